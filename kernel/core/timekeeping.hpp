// SPDX-License-Identifier: BSD-2-Clause
// What a tick of the clock means: time spent by the running thread, and waits that are over.
#pragma once

#include "core/x2.hpp"

namespace timekeeping {

// The clock's interrupt, `us` after the last one.
void tick(Microseconds us);
// Ends the waits whose time was over at the last tick. Their number is the users' choice, so there are preemption
// points: on the way out of the kernel, before the choice of a thread, where nothing is lost if one takes an interrupt.
extern bool ticked;             // since all of them were ended
void expire_all();
inline void expire() {
    if (ticked) expire_all();
}

}  // namespace timekeeping
