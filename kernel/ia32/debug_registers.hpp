// SPDX-License-Identifier: BSD-2-Clause
// The debug registers of each thread (manual A.9). User code cannot reach the processor's: the kernel carries such
// moves out on a copy, and loads what a thread has enabled for as long as it runs. It then holds them
// (Thread::fast_veto), like a coprocessor that it has used: all others pay nothing.
//
// Breakpoints are addresses of the thread's space. One that reaches outside of it is never loaded, so the kernel, which
// uses no user address, meets none of them but one that was due before its entry (entry.S).
#pragma once

#include "core/thread.hpp"

namespace debug_registers {

// A register's own place in the copy: DR0 to DR3, DR6 and DR7. nullptr for others, or when kernel memory is exhausted.
Word* find(Thread& t, Word number);
// What a thread may have in a register, of what it has moved there.
Word permitted(Word number, Word value);
// The thread is about to run: loads its breakpoints, which depend on where its slot lies.
void enter(Thread& t);
// Another thread is about to run.
void release();
// It had a debug exception: takes the processor's status over into its copy.
void keep_status(Thread& t);
// Whether it has a breakpoint enabled: the fast path does not load any.
bool enabled(const Thread& t);
// The thread is being deleted.
void forget(Thread& t);
Word bytes(const Thread& t);

}  // namespace debug_registers
