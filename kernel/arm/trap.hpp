// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "arm/layout.hpp"
#include "core/thread.hpp"

extern "C" {
// From user mode: registers and frame of `t` are saved. `kind`: one of TRAP_*. Returns `t` if it goes on as if nothing
// had happened, else nullptr: whoever is to run.
Thread* trap(Thread& t, Word kind);
void kernel_trap(Word kind, Word pc, Word psr);
Thread* leave_kernel();
// The way out, from wherever the kernel is: what it was doing is forgotten, as at a preemption point.
[[noreturn]] void leave_to_user();
// As memcpy(). False if there is nothing at one of the two: a user's frame can be one of a device's, or of nothing, and
// the bus may say so by an abort, which would otherwise be a fault of the kernel's.
bool copy_if_there(void* to, const void* from, std::size_t bytes);
}

// Numbers of exceptions (docs/x2-arm.md); the first one's message shows none.
enum Exception : Word { exception_system_call = 0, exception_undefined = 1, exception_abort = 0x100 };

namespace arch {
// Addresses with bit 0 set mean Thumb code, as everywhere on ARM; without it, ARM code. A thread that has come to Java
// state by itself keeps it over faults, but goes on nowhere else in it.
inline void go_on_at(Thread& t, Word ip) {
    t.frame.pc = ip & ~1u;
    t.frame.cpsr = (t.frame.cpsr & ~(STATE_THUMB | STATE_JAVA)) | (ip & 1 ? STATE_THUMB : 0);
}
}

namespace faults {
// What a user did that the processor stopped. A page that is there is granted as far as it may be, and the access can
// be repeated (true); anything else becomes a message.
void undefined(Thread& t);
void software_interrupt(Thread& t);
bool prefetch_abort(Thread& t);
bool data_abort(Thread& t, VAddr address, Word status);
}

namespace system_calls {
// By the place that was jumped to: SYSTEM_CALLS + n. True if the thread goes on at once: nothing else can have changed.
bool dispatch(Thread& t, Word n);
}

namespace debug_calls {
// Likewise, calls of the debug console (docs/x2-arm.md). False if there is no such call.
bool dispatch(Thread& t, Word n);
}
