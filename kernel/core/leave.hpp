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

// Runs the thread's continuation, or the next part of it; false if it has none.
inline bool resume(Thread& t) {
    Continuation next = t.continuation();
    if (next == Continuation::nothing) return false;
    arch::preemption_point();  // so that an interrupt handler's time does not add to the part that follows
    switch (next) {
    case Continuation::nothing: break;
    case Continuation::unmap: system_calls::resume_unmapping(t); break;
    case Continuation::space_control: system_calls::resume_space_control(t); break;
    case Continuation::aftermath: aftermath::resume(t); break;
    case Continuation::receive: ipc::resume(t); break;
    case Continuation::print: console::resume(t); break;
    case Continuation::transfer: strings::resume(t); break;
    case Continuation::preemption: ipc::tell_preemption(t); break;
    case Continuation::quantum: ipc::quantum_exhausted(t); break;
    }
    return true;
}

}  // namespace leaving

// Runs the continuations of the threads that are to run, in the order of their priorities, and enters the first thread
// that has none. Returns it; nullptr while idle. After each part the scheduler is asked again: that part, or an
// interrupt at a preemption point, may have made another thread the one to run.
inline Thread* leave() {
    for (;;) {
        timekeeping::expire();
        Thread* before = arch::current_thread();
        Thread* t = schedule::next(before);
        arch::change_thread(before, t);
        if (!t) return nullptr;
        if (!leaving::resume(*t) && arch::enter(*t, before)) return t;
        arch::preemption_point();  // users can make many threads with continuations ready
    }
}
