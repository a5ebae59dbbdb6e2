// SPDX-License-Identifier: BSD-2-Clause
// Which registers carry what (docs/x2-arm.md), by the number of the call: its address less SYSTEM_CALLS.
#include "core/system_calls.hpp"

#include "arm/layout.hpp"
#include "arm/trap.hpp"
#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/space.hpp"

namespace system_calls {
namespace {

constexpr Word register_words = 5;              // MR0 to MR4 are in R3 to R7

void load_message(Thread& t) {
    for (Word i = 0; i < register_words; ++i) t.utcb->mr[i] = t.registers.r[3 + i];
}

void ipc_registers(Thread& t) {
    Word* r = t.registers.r;
    load_message(t);
    // The fast path returns to ARM code only, and to where LR says.
    t.fast_entry = !(t.registers.lr & 3);
    ipc::call(t, {r[0]}, {r[1]}, r[2]);
}

void thread_switch_registers(Thread& t) { thread_switch(t, {t.registers.r[0]}); }

void thread_control_registers(Thread& t) {
    Word* r = t.registers.r;
    r[0] = thread_control(t, {r[0]}, {r[1]}, {r[2]}, {r[3]}, r[4]);
}

void exchange_registers_registers(Thread& t) {
    Word* r = t.registers.r;
    Exchange v{.control = r[1], .sp = r[2], .ip = r[3], .flags = r[4], .user_handle = r[5], .pager = r[6]};
    r[0] = exchange_registers(t, {r[0]}, v).raw;
    r[1] = v.control, r[2] = v.sp, r[3] = v.ip, r[4] = v.flags, r[5] = v.user_handle, r[6] = v.pager;
}

void schedule_registers(Thread& t) {
    Word* r = t.registers.r;
    r[0] = schedule(t, {r[0]}, r[1], r[2], r[3], r[4]);
}

void unmap_registers(Thread& t) {
    load_message(t);
    unmap(t, t.registers.r[0], {t.registers.r[1]});
}

void processor_control_registers(Thread& t) {
    Word* r = t.registers.r;
    r[0] = processor_control(t, r[0], r[1], r[2], r[3]);
}

void memory_control_registers(Thread& t) {
    Word* r = t.registers.r;
    r[0] = memory_control(t, r[0], {r[1], r[2], r[3], r[4]});
}

void system_clock_registers(Thread& t) {
    Microseconds now = arch::now();
    t.registers.r[0] = static_cast<Word>(now);
    t.registers.r[1] = static_cast<Word>(now >> 32);
}

void kernel_interface_registers(Thread& t) {
    Word* r = t.registers.r;
    r[0] = t.space->kip_area.base();
    r[1] = kip::kip.api_version;
    r[2] = kip::kip.api_flags;
    r[3] = *reinterpret_cast<Word*>(reinterpret_cast<char*>(&kip::kip) + kip::kip.kernel_desc);
}

// In the order of the stubs in kip.S.
constexpr void (*table[])(Thread&) = {
    ipc_registers,
    thread_switch_registers,
    thread_control_registers,
    exchange_registers_registers,
    schedule_registers,
    unmap_registers,
    begin_space_control,
    processor_control_registers,
    memory_control_registers,
};
constexpr Word system_clock_number = 0x24, lipc_number = 0x28, kernel_interface_number = 0xb4;

}  // namespace

// R2 tells where the UTCB area is.
void resume_space_control(Thread& t) {
    Word* r = t.registers.r;
    ThreadId dest{r[0]};
    r[0] = space_control(t, dest, r[1], {r[2]}, {r[3]}, {r[4]});
    Thread* named = r[0] ? threads::find(dest) : nullptr;
    r[2] = named ? named->space->utcb_area.raw : 0;
}

bool dispatch(Thread& t, Word n) {
    VAddr called = t.frame.pc;
    arch::go_on_at(t, t.registers.lr);
    if (n == system_clock_number) {
        system_clock_registers(t);
        return true;
    }
    if (n % 4 == 0 && n / 4 < sizeof table / sizeof *table) {
        table[n / 4](t);
    } else if (n == lipc_number) {
        ipc_registers(t);
    } else if (n == kernel_interface_number) {
        kernel_interface_registers(t);
    } else if (!debug_calls::dispatch(t, n)) {
        // No such call: nothing is there.
        t.frame.pc = called;
        ipc::page_fault(t, called, right_read | right_execute);
    }
    return false;
}

}  // namespace system_calls
