// SPDX-License-Identifier: BSD-2-Clause
#include "core/timekeeping.hpp"

#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/schedule.hpp"
#include "core/timeout.hpp"

namespace timekeeping {
namespace {

Microseconds last_tick;
bool port_is_due;  // after_tick() has not been called since

}  // namespace

bool ticked;

void tick(Microseconds us) {
    last_tick = arch::now();
    ticked = port_is_due = true;
    // The points on the way out of the kernel come after the current thread has blocked.
    Thread* t = arch::current_thread();
    if (t && schedule::can_run(*t) && schedule::tick(*t, us)) ipc::quantum_exhausted(*t);
}

[[gnu::cold]] void expire_all() {
    constexpr Word between_points = 8;
    if (port_is_due) {
        arch::preemption_point();
        port_is_due = false;
        arch::after_tick();
    }
    for (Word done = 0;; ++done) {
        if (done % between_points == 0) arch::preemption_point();  // also before the first: the tick itself may be long
        Thread* t = timeouts::expired(last_tick);
        if (!t) break;
        ipc::timed_out(*t);
    }
    ticked = false;
}

}  // namespace timekeeping
