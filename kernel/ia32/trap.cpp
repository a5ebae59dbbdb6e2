// SPDX-License-Identifier: BSD-2-Clause
// Traps by vector: interrupts, system calls by gate, faults.
#include "ia32/trap.hpp"
#include "ia32/board.hpp"

#include "core/arch.hpp"
#include "core/checks.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"
#include "ia32/coprocessor.hpp"
#include "ia32/cpu.hpp"
#include "ia32/debug_registers.hpp"
#include "ia32/layout.hpp"
#include "ia32/panic.hpp"

extern "C" char stub_ipc_return[];
extern "C" char msr_read[], msr_write[];  // ia32/faults.cpp
extern "C" char exit_null_int[], exit_empty_int[], exit_words_int[];  // ia32/fastpath.S
extern "C" char exit_answered[], exit_turned[];  // ia32/reflection.S

namespace {

// A thread that is interrupted on the trampoline has flat CS and SS, or a flat CS still, and is not returned there.
// Its stack pointer is final and points at lret's operands; the stub's own lret in the interface page does the rest
// with its segments.
void leave_trampoline(Thread& t) {
    if ((t.frame.eip & ~page_mask) != TRAMPOLINE_PAGE) return;
    t.frame.eip = t.space->kip_area.base() + kip::offset(stub_ipc_return);
    t.frame.cs = USER_CODE;
    t.frame.ss = USER_DATA;
}

bool is_interrupt(Word vector) { return vector >= VECTOR_IRQ && vector < VECTOR_IRQ + arch::interrupt_lines; }

void user_fault(Thread& t, Word vector, Word error, Word ds, Word es) {
    bool done = false;
    switch (vector) {
    case vector_debug: debug_registers::keep_status(t); break;
    case vector_protection:
    case vector_stack: done = faults::protection(t, error, ds & 0xffff, es & 0xffff); break;
    case vector_invalid_opcode: done = faults::invalid_opcode(t); break;
    case vector_no_coprocessor: done = coprocessor::claim(t); break;
    case vector_breakpoint: done = faults::breakpoint(t); break;
    default: break;
    }
    if (!done) faults::raise(t, vector, error);
}

}  // namespace

extern "C" Thread* trap(Thread& t, Word vector, Word error, Word ds, Word es) {
    check(checks::entered(t));
    t.fast_entry = false;
    leave_trampoline(t);
    if (vector == vector_page_fault) return faults::page_fault(t, cpu::read_cr2(), error);
    if (is_interrupt(vector)) {
        schedule::interrupted();
        board::interrupt(vector - VECTOR_IRQ);
    } else if (vector >= VECTOR_IPC) {
        system_calls::dispatch(t, vector);
    } else {
        user_fault(t, vector, error, ds, es);
    }
    return nullptr;
}

// The state saved of such a thread is unusable: it continues at address 0 with a protection fault, after an interrupt
// at its next entry.
extern "C" void virtual_8086_trap(Thread& t, Word vector) {
    check(checks::runs(t));
    t.fast_entry = false;
    arch::prepare_user(t);
    if (!is_interrupt(vector)) return faults::raise(t, vector_protection, 0);
    schedule::interrupted();
    board::interrupt(vector - VECTOR_IRQ);
}

// Only the idle loop runs in kernel mode with interrupts on. Two instructions may fault there: the access to a
// model-specific register, for which the thread gets the fault, and the iret of a fast way out. Then the registers of
// the thread that was to leave are saved, where its frame is still complete, and leave_kernel takes the slow way out
// for it. Other frames are dropped.
extern "C" void kernel_trap(const KernelFrame& f, Word vector, Word error) {
    auto at = [&](const char* label) { return f.eip == reinterpret_cast<Word>(label); };
    Thread* t = processor.current();
    if (vector == vector_protection && (at(msr_read) || at(msr_write))) return faults::raise(*t, vector, 0);
    if (at(exit_null_int) || at(exit_empty_int) || at(exit_words_int) || at(exit_answered) || at(exit_turned)) {
        Registers registers = f.registers;      // it overlaps the thread's own registers
        t->registers = registers;
        return;
    }
    if (!is_interrupt(vector)) panic(f, reinterpret_cast<Word>(&f + 1), vector, error);
    board::interrupt(vector - VECTOR_IRQ);
}
