// SPDX-License-Identifier: BSD-2-Clause
// The way out of the kernel, the same for every entry and every port. For the one file of a port
// that supplies arch::change_thread and arch::enter: there they become part of it.
#pragma once

#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/schedule.hpp"
#include "core/string_transfer.hpp"
#include "core/system_calls.hpp"
#include "core/timekeeping.hpp"

namespace leaving {

// One thing that the kernel has to do in a thread's name before it runs itself; false if there is none. A call that let
// an interrupt in goes first: the thread's strings may be part of it, and its handlers are told when it is through.
inline bool carry_on(Thread& t) {
    if (t.pending != Pending::nothing) system_calls::carry_on(t);
    else if (t.transfer) strings::carry_on(t);
    else if (t.preempted_at || t.quantum_over) ipc::preempted(t);
    else return false;
    return true;
}

}  // namespace leaving

// Does what the kernel has left to do for the threads that are to run, in the order of their priorities, and enters the
// first for which nothing is left. Returns it; nullptr while there is nobody.
// After each step the scheduler is asked again: what was done, or an interrupt at a preemption point, may have made
// another thread the one to run.
inline Thread* leave() {
    for (;;) {
        timekeeping::expire();
        Thread* before = arch::current_thread();
        Thread* t = schedule::next(before);
        arch::change_thread(before, t);
        if (!t) return nullptr;
        if (!leaving::carry_on(*t) && arch::enter(*t, before)) return t;
        arch::preemption_point();  // users can make many threads ready for which there is something to do
    }
}
