// SPDX-License-Identifier: BSD-2-Clause
// The way out of the kernel, the same for every entry and every port. For the one file of a port
// that supplies arch::change_thread and arch::enter: there they become part of it.
#pragma once

#include "core/aftermath.hpp"
#include "core/arch.hpp"
#include "core/console.hpp"
#include "core/ipc.hpp"
#include "core/schedule.hpp"
#include "core/string_transfer.hpp"
#include "core/system_calls.hpp"
#include "core/timekeeping.hpp"

namespace leaving {

// The first thing that the kernel has to do in a thread's name before the thread runs; false if there is none.
inline bool carry_on(Thread& t) {
    Continuation next = t.continuation();
    if (next == Continuation::nothing) return false;
    arch::preemption_point();  // what an interrupt has done in between is not part of what follows
    switch (next) {
    case Continuation::nothing: break;
    case Continuation::unmap: system_calls::carry_on_unmapping(t); break;
    case Continuation::aftermath: aftermath::carry_on(t); break;
    case Continuation::receive: ipc::carry_on(t); break;
    case Continuation::print: console::carry_on(t); break;
    case Continuation::transfer: strings::carry_on(t); break;
    case Continuation::preemption: ipc::tell_preemption(t); break;
    case Continuation::quantum: ipc::quantum_exhausted(t); break;
    }
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
