// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "arm/layout.hpp"
#include "core/thread.hpp"

extern "C" {
// Handles a trap from user mode: registers and frame of `t` are saved. `kind`: one of TRAP_*. Returns `t` if it
// continues with nothing else changed, else nullptr: the scheduler chooses.
Thread* trap(Thread& t, Word kind);
void kernel_trap(Word kind, Word pc, Word psr);
Thread* leave_kernel();
// The way out, from anywhere in the kernel: its stack is dropped, as at a preemption point.
[[noreturn]] void leave_to_user();
// Like memcpy(). False if an address does not respond: a user's frame can be a device's, or of missing memory, and the
// bus may raise an abort, which would otherwise be a fault of the kernel's.
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
// Faults of user threads. Access to a present page is granted as far as permitted, and repeated (true); all else
// becomes a message.
void undefined(Thread& t);
void software_interrupt(Thread& t);
bool prefetch_abort(Thread& t);
bool data_abort(Thread& t, VAddr address, Word status);
}

namespace system_calls {
// By the address that was jumped to: SYSTEM_CALLS + n. True if the thread continues at once: nothing else can have
// changed.
bool dispatch(Thread& t, Word n);
}

namespace debug_calls {
// Likewise, calls of the debug console (docs/x2-arm.md). False if there is no such call.
bool dispatch(Thread& t, Word n);
}
