// SPDX-License-Identifier: BSD-2-Clause
// Traps by vector: interrupts, system calls by gate, faults.
#include "ia32/trap.hpp"

#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/print.hpp"
#include "core/space.hpp"
#include "ia32/cpu.hpp"
#include "ia32/layout.hpp"
#include "pc/board.hpp"

extern "C" char stub_ipc_return[];

namespace {

// The line that says what happened comes last: whoever watches the console takes it for the kernel's last words.
[[noreturn]] void panic(const TrapFrame& f) {
    const Registers& r = f.registers;
    print(" eax ", hex(r.eax), " ebx ", hex(r.ebx), " ecx ", hex(r.ecx), " edx ", hex(r.edx), "\n");
    print(" esi ", hex(r.esi), " edi ", hex(r.edi), " ebp ", hex(r.ebp), " esp ", hex(r.kernel_esp), "\n");
    Thread* t = processor.current;
    print(" thread ", hex(t ? t->id.raw : 0), " cs ", hex(f.frame.cs), " eflags ", hex(f.frame.eflags), "\n");
    print("cobnut: kernel fault ", f.vector, " error ", f.error, " at ", hex(f.frame.eip), " cr2 ", hex(cpu::read_cr2()), "\n");
    arch::power_off();
}

// A thread on the trampoline has flat CS and SS, or a flat CS still: it is not returned there. Its stack pointer is
// final and points at what lret takes; the stub's own lret in the interface page does the rest under its segments.
void leave_trampoline(Thread& t) {
    if ((t.frame.eip & ~page_mask) != TRAMPOLINE_PAGE) return;
    t.frame.eip = t.space->kip_area.base() + kip::offset(stub_ipc_return);
    t.frame.cs = USER_CODE;
    t.frame.ss = USER_DATA;
}

void user_fault(Thread& t, const TrapFrame& f) {
    bool done = false;
    switch (f.vector) {
    case vector_page_fault: faults::page_fault(t, cpu::read_cr2(), f.error); return;
    case vector_protection:
    case vector_stack: done = faults::protection(t, f.error, f.ds & 0xffff, f.es & 0xffff); break;
    case vector_invalid_opcode: done = faults::invalid_opcode(t); break;
    case vector_breakpoint: done = faults::breakpoint(t); break;
    default: break;
    }
    if (!done) faults::raise(t, f.vector, f.error);
}

}  // namespace

extern "C" void trap(TrapFrame* f) {
    bool interrupt = f->vector >= VECTOR_IRQ && f->vector < VECTOR_IRQ + arch::interrupt_lines;
    if (!f->from_user()) {
        // Only the idle loop runs in kernel mode with interrupts on. Its frame is forgotten.
        if (!interrupt) panic(*f);
        board::interrupt(f->vector - VECTOR_IRQ);
        return;
    }
    Thread& t = *processor.current;
    t.registers = f->registers;
    t.frame = f->frame;
    t.fast_entry = false;
    leave_trampoline(t);
    if (interrupt)
        board::interrupt(f->vector - VECTOR_IRQ);
    else if (f->vector >= VECTOR_IPC)
        system_calls::dispatch(t, f->vector);
    else
        user_fault(t, *f);
}

// Runs on the double fault's own task segment and stack.
extern "C" [[noreturn]] void double_fault_panic() { arch::stop("double fault in the kernel"); }
