// SPDX-License-Identifier: BSD-2-Clause
// Which registers carry what (sheet 4.0), for system calls that come through an interrupt gate.
#include "core/system_calls.hpp"

#include "core/ipc.hpp"
#include "ia32/layout.hpp"
#include "ia32/tls.hpp"
#include "ia32/trap.hpp"

void ipc_registers(Thread& t) {
    Registers& r = t.registers;
    ipc::call(t, {r.eax}, {r.edx}, r.ecx);
}

namespace system_calls {
namespace {

void thread_switch_registers(Thread& t) { thread_switch(t, {t.registers.eax}); }

void schedule_registers(Thread& t) {
    Registers& r = t.registers;
    r.eax = schedule(t, {r.eax}, r.edx, r.esi, r.ecx, r.edi);
}

void unmap_registers(Thread& t) {
    t.utcb->mr[0] = t.registers.esi;
    unmap(t, t.registers.eax, {t.registers.ecx});
}

void exchange_registers_registers(Thread& t) {
    Registers& r = t.registers;
    Exchange v{.control = r.ecx, .sp = r.edx, .ip = r.esi, .flags = r.edi, .user_handle = r.ebx, .pager = r.ebp};
    r.eax = exchange_registers(t, {r.eax}, v).raw;
    r.ecx = v.control, r.edx = v.sp, r.esi = v.ip, r.edi = v.flags, r.ebx = v.user_handle, r.ebp = v.pager;
}

void thread_control_registers(Thread& t) {
    Registers& r = t.registers;
    r.eax = thread_control(t, {r.eax}, {r.esi}, {r.edx}, {r.ecx}, r.edi);
}

void processor_control_registers(Thread& t) {
    Registers& r = t.registers;
    r.eax = processor_control(t, r.eax, r.ecx, r.edx, r.esi);
}

void memory_control_registers(Thread& t) {
    Registers& r = t.registers;
    t.utcb->mr[0] = r.esi;
    r.eax = memory_control(t, r.eax, {r.ecx, r.edx, r.ebx, r.ebp});
}

void tls_control_registers(Thread& t) {
    Registers& r = t.registers;
    r.eax = tls::control(t, {r.eax}, r.ecx);
    r.ecx = USER_TLS;
}

// In the order of the stubs in kip.S.
constexpr void (*table[])(Thread&) = {
    thread_switch_registers,
    schedule_registers,
    unmap_registers,
    exchange_registers_registers,
    thread_control_registers,
    begin_space_control,
    processor_control_registers,
    memory_control_registers,
    tls_control_registers,
};
static_assert(sizeof table / sizeof *table == SYSCALLS);

}  // namespace

void resume_space_control(Thread& t) {
    Registers& r = t.registers;
    Word control = r.ecx;
    r.eax = space_control(t, {r.eax}, control, {r.edx}, {r.esi}, {r.edi});
    r.ecx = control;
}

void dispatch(Thread& t, Word vector) {
    if (vector == VECTOR_IPC) {
        t.utcb->mr[0] = t.registers.esi;
        ipc_registers(t);
    } else {
        table[vector - VECTOR_SYSCALLS](t);
    }
}

}  // namespace system_calls
