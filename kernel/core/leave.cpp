// SPDX-License-Identifier: BSD-2-Clause
#include "core/leave.hpp"

#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/schedule.hpp"
#include "core/string_transfer.hpp"
#include "core/system_calls.hpp"
#include "core/timekeeping.hpp"

namespace {

// One thing that the kernel has to do in a thread's name before it runs itself; false if there is none. A call that let
// an interrupt in goes first: the thread's strings may be part of it, and its handlers are told when it is through.
bool carry_on(Thread& t) {
    if (t.pending != Pending::nothing) system_calls::carry_on(t);
    else if (t.transfer) strings::carry_on(t);
    else if (t.preempted_at || t.quantum_over) ipc::preempted(t);
    else return false;
    return true;
}

}  // namespace

// After each step the scheduler is asked again: what was done, or an interrupt at a preemption point, may have made
// another thread the one to run.
Thread* leave() {
    for (;;) {
        timekeeping::expire();
        Thread* before = arch::current_thread();
        Thread* t = schedule::next(before);
        arch::change_thread(before, t);
        if (!t) return nullptr;
        if (!carry_on(*t) && arch::enter(*t, before)) return t;
        arch::preemption_point();       // users can make many threads ready for which there is something to do
    }
}
