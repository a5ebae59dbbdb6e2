// SPDX-License-Identifier: BSD-2-Clause
// The effects of a clock tick: time consumed by the running thread, and timeouts that expire.
#pragma once

#include "core/x2.hpp"

namespace timekeeping {

// The clock's interrupt, `us` after the last one.
void tick(Microseconds us);
// Ends the waits that had expired at the last tick. Their number is the users' choice, so there are preemption points:
// on the way out of the kernel, before the next thread is chosen, where an interrupt loses nothing.
extern bool ticked;             // there was a tick since all were ended
void expire_all();
inline void expire() {
    if (ticked) expire_all();
}

}  // namespace timekeeping
