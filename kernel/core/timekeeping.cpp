// SPDX-License-Identifier: BSD-2-Clause
#include "core/timekeeping.hpp"

#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/schedule.hpp"
#include "core/timeout.hpp"

namespace timekeeping {
namespace {

Microseconds last_tick;

}  // namespace

bool ticked;

void tick(Microseconds us) {
    last_tick = arch::now();
    ticked = true;
    // On the way out of the kernel there are points behind what has made the current thread wait.
    Thread* t = arch::current_thread();
    if (t && schedule::can_run(*t) && schedule::tick(*t, us)) ipc::quantum_exhausted(*t);
}

[[gnu::cold]] void expire_all() {
    constexpr Word between_points = 8;
    for (Word done = 0;; ++done) {
        if (done % between_points == 0) arch::preemption_point();  // also before the first: the tick itself may be long
        Thread* t = timeouts::expired(last_tick);
        if (!t) break;
        ipc::timed_out(*t);
    }
    ticked = false;
}

}  // namespace timekeeping
