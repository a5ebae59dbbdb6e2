// SPDX-License-Identifier: BSD-2-Clause
// The coprocessor: x87, MMX and SSE registers, switched lazily.
//
// They belong to the thread that used them last, the owner, whoever runs. CR0.TS is clear only while the owner runs and
// has used them since it came to run: then it holds them (Thread::fast_veto). Everybody else's first instruction raises
// #NM, which brings its own registers. A thread that holds them takes the slow way out of an IPC, which sets TS; so no
// IPC pays for them but those of threads that just used them.
#pragma once

#include "core/thread.hpp"

namespace coprocessor {

void initialise();
// #NM: the registers become t's. False without a coprocessor, or when kernel memory for its state is exhausted.
bool claim(Thread& t);
// The thread that holds the registers stops to run.
void release();
// The thread goes away.
void forget(Thread& t);
// What is kept of its registers.
Word bytes(const Thread& t);

}  // namespace coprocessor
