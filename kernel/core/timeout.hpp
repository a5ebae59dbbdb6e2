// SPDX-License-Identifier: BSD-2-Clause
// IPC timeouts: the threads that wait until a time, soonest first.
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
// How many wait; all ones if they are in no order.
Word count();

}  // namespace timeouts
