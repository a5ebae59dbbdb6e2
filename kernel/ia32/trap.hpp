// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "arch/context.hpp"
#include "core/thread.hpp"

// The frame of an entry from kernel mode on the kernel stack, lowest address first.
struct KernelFrame {
    Registers registers;
    Word eip, cs, eflags;
};

extern "C" {
// Handles a trap from user mode: registers and frame of `t` are saved; `ds` and `es` are the user's, which are not in
// force any more. Returns the thread to run: if `t` had a page fault, that may be its pager, which has the message but
// has not been switched to.
Thread* trap(Thread& t, Word vector, Word error, Word ds, Word es);
void virtual_8086_trap(Thread& t, Word vector);
void kernel_trap(const KernelFrame& f, Word vector, Word error);
// The IPC system call off the fast path, by the kind of entry that the fast path serves.
void fast_entry_ipc(Thread* t);
Thread* leave_kernel();
}

// Processor exceptions (volume 3, chapter 6).
enum Vector : Word {
    vector_debug = 1,
    vector_breakpoint = 3,
    vector_invalid_opcode = 6,
    vector_no_coprocessor = 7,
    vector_stack = 12,
    vector_protection = 13,
    vector_page_fault = 14,
};

// Faults of user threads. Functions that return true have handled it: the thread continues where its frame says.
// Others become exceptions.
namespace faults {
void raise(Thread& t, Word vector, Word error);
Thread* page_fault(Thread& t, VAddr linear, Word error);  // what trap() returns
// Delivers a fault to a pager that waits for it, and returns the pager; nullptr: ipc::page_fault() has to.
Thread* tell_pager(Thread& t, VAddr address, Word rights);
// `ds` and `es` as the user had them.
bool protection(Thread& t, Word error, Word ds, Word es);
bool invalid_opcode(Thread& t);
bool breakpoint(Thread& t);
}

namespace arch {
// `t` stops running: takes back what it holds of the processor.
void take_back(Thread& t);
}

// The IPC system call, from registers; MR0 is in the thread's UTCB.
void ipc_registers(Thread& t);

namespace system_calls {
// The system call of a gate (VECTOR_IPC, VECTOR_SYSCALLS + n), with registers as sheet 4.0 has them.
void dispatch(Thread& t, Word vector);
}
