// SPDX-License-Identifier: BSD-2-Clause
// IPC timeouts: a queue of threads by deadline, soonest first, those with equal deadlines in the order of their starts.
#pragma once

#include "core/thread.hpp"

namespace timeouts {

// When a timeout that starts at `now` ends; `never` for one that does not.
constexpr Microseconds never = ~Microseconds{0};
Microseconds end_of(Time timeout, Microseconds now);

void start(Thread& t, Microseconds deadline);
void cancel(Thread& t);
// Removes and returns a thread whose deadline has passed; nullptr when there is none.
Thread* expired(Microseconds now);
// The length of the queue; and whether a thread's place in it agrees with its neighbours'.
Word count();
bool in_order(const Thread& t);

}  // namespace timeouts
