// SPDX-License-Identifier: BSD-2-Clause
// IPC timeouts: the threads that wait until a time, soonest first, those of equal times in the order of their starts.
#pragma once

#include "core/thread.hpp"

namespace timeouts {

// When a timeout that starts at `now` ends; `never` for one that does not.
constexpr Microseconds never = ~Microseconds{0};
Microseconds end_of(Time timeout, Microseconds now);

void start(Thread& t, Microseconds deadline);
void cancel(Thread& t);
// Takes out and returns a thread whose time is over; nullptr when none is.
Thread* expired(Microseconds now);
// How many wait; and whether the place of one of them agrees with those next to it.
Word count();
bool in_order(const Thread& t);

}  // namespace timeouts
