// SPDX-License-Identifier: BSD-2-Clause
#include "core/checks.hpp"

#include "core/arch.hpp"
#include "core/space.hpp"

namespace checks {

namespace {
constexpr Word empty_stack = 128;           // bytes: what trap() and its like have taken of it at once
}

bool runs(const Thread& t) {
    check(&t == arch::current_thread() && t.is(State::ready));
    check(!t.ready_link.queued() && !t.timeout.queued() && !t.partner);
    return true;
}

bool entered(const Thread& t) {
    runs(t);
    check(in_user_mode(t));
    check(stack_top() - reinterpret_cast<Word>(__builtin_frame_address(0)) < empty_stack);
    return true;
}

bool leaves(const Thread& t) {
    runs(t);
    check(!t.halted && t.continuation() == Continuation::nothing);
    check(in_user_mode(t));
    check(spaces::valid_utcb(*t.space, t.utcb_address));
    check(!(t.fast_veto & veto_senders) == t.senders.empty());
    return confined(t);
}

}  // namespace checks
