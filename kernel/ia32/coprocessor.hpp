// SPDX-License-Identifier: BSD-2-Clause
// The coprocessor: x87, MMX and SSE registers, switched lazily.
//
// They belong to the thread that used them last, the owner, even while others run. CR0.TS is clear only while the
// owner runs and has used them since it was last switched to: then it holds them (Thread::fast_veto). The first
// coprocessor instruction of any other thread raises #NM, which loads its own registers. A thread that holds them
// takes the slow way out of an IPC, which sets TS; so only IPCs of threads that have just used them pay for them.
#pragma once

#include "core/thread.hpp"

namespace coprocessor {

void initialise();
// #NM: the registers become t's. False without a coprocessor, or when kernel memory for its state is exhausted.
bool claim(Thread& t);
// Another thread is about to run.
void release();
// The thread is being deleted.
void forget(Thread& t);
// The memory for its saved registers.
Word bytes(const Thread& t);

}  // namespace coprocessor
