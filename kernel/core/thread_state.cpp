// SPDX-License-Identifier: BSD-2-Clause
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/thread.hpp"

[[gnu::noinline]] void Thread::become(State next) {
    check(next < State::open);
    if (waits_fast()) {
        check(!ready_link.queued() && !timeout.queued() && !halted && !partner && !in_kernel());
        Role role = receives_as();
        awaited = awaits();
        receive_role = role;
        if (role == Role::user) arch::leave_fast_frame(*this);
        else fast_entry = false;
    }
    state_word = static_cast<Word>(next);
}
