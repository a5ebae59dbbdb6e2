// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/coprocessor.hpp"

#include "core/check.hpp"
#include "core/memory.hpp"
#include "core/space.hpp"
#include "ia32/cpu.hpp"

// As fxsave writes it (volume 1, 10.5.1), or in its beginning as fnsave does (8.1.10).
struct alignas(16) CoprocessorState {
    Word word[128];
};
static_assert(sizeof(CoprocessorState) == 512);

namespace coprocessor {
namespace {

constexpr Word c0 = 1u << 8;        // in the flags TCR: the thread needs its registers kept (manual 6.2)

memory::Pool pool{sizeof(CoprocessorState)};
Thread* owner;

// What fninit and a reset of SSE leave: all exceptions masked, all registers empty or 0.
CoprocessorState* fresh_state(memory::Account& payer) {
    auto* s = static_cast<CoprocessorState*>(pool.allocate(payer));
    if (!s) return nullptr;
    s->word[0] = 0x37f;
    if (cpu::features.fxsave) s->word[6] = 0x1f80;        // MXCSR
    else s->word[2] = 0xffff;        // the tags say empty; fxsave's own form of them says so by 0
    return s;
}

void drop_state(Thread& t) {
    if (t.arch.coprocessor) pool.free(t.arch.coprocessor, t.space->account);
    t.arch.coprocessor = nullptr;
}

// A thread that has declared that it does not need its registers kept gets fresh ones next time.
void save(Thread& t) {
    check(t.arch.coprocessor);
    if (!(t.utcb->flags() & c0)) return drop_state(t);
    if (cpu::features.fxsave) asm volatile("fxsave %0" : "=m"(*t.arch.coprocessor));
    else asm volatile("fnsave %0" : "=m"(*t.arch.coprocessor));
}

// A pending error of the previous owner would be raised in here. And AMD's processors from K7 on load the pointers to
// the last instruction and its operand only with a pending error: a load of the kernel's own overwrites those that
// others have left (AMD64 Architecture Programmer's Manual, volume 4, FXRSTOR).
void restore(const Thread& t) {
    static const Word any = 0;
    asm volatile("fnclex");
    if (cpu::features.fxsave) asm volatile("fildl %1\n\tfxrstor %0" : : "m"(*t.arch.coprocessor), "m"(any));
    else asm volatile("frstor %0" : : "m"(*t.arch.coprocessor));
}

}  // namespace

void initialise() {
    using namespace cpu;
    Word cr0 = read_cr0() & ~(cr0_monitor | cr0_emulate);
    cr0 |= features.coprocessor ? cr0_task_switched | cr0_monitor | cr0_numeric_error : cr0_task_switched | cr0_emulate;
    write_cr0(cr0);
    if (features.fxsave) write_cr4(read_cr4() | cr4_fxsave | (features.sse ? Word{cr4_sse_errors} : 0));
}

bool claim(Thread& t) {
    check(&t == processor.current());
    if (!cpu::features.coprocessor) return false;
    if (!t.arch.coprocessor && !(t.arch.coprocessor = fresh_state(t.space->account))) return false;
    cpu::clear_task_switched();
    if (owner != &t) {
        if (owner) save(*owner);
        restore(t);
        owner = &t;
    }
    t.fast_veto |= held_coprocessor;
    return true;
}

void release() { cpu::write_cr0(cpu::read_cr0() | cpu::cr0_task_switched); }

void forget(Thread& t) {
    if (owner == &t) owner = nullptr;
    drop_state(t);
}

Word bytes(const Thread& t) { return t.arch.coprocessor ? sizeof(CoprocessorState) : 0; }

}  // namespace coprocessor
