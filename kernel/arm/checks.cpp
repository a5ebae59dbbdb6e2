// SPDX-License-Identifier: BSD-2-Clause
#include "arm/checks.hpp"

#include "arm/cpu.hpp"
#include "arm/page_tables.hpp"
#include "core/arch.hpp"
#include "core/space.hpp"

namespace checks {

using namespace page_tables;

namespace {

constexpr Word empty_stack = 128;           // bytes: what trap() and its like have taken of it at once
constexpr Word mode_bits = 0x1f;

bool in_user_mode(const Thread& t) { return (t.frame.cpsr & (mode_bits | MASK_IRQ)) == MODE_USER; }

}  // namespace

bool runs(const Thread& t) {
    check(&t == processor.current && t.state == State::ready && !t.open_to);
    check(!t.ready_link.queued() && !t.timeout.queued() && !t.partner);
    return true;
}

bool entered(const Thread& t) {
    runs(t);
    check(in_user_mode(t));
    Word stack = reinterpret_cast<Word>(&processor) - reinterpret_cast<Word>(__builtin_frame_address(0));
    check(stack < empty_stack);
    return true;
}

bool leaves(const Thread& t) {
    runs(t);
    check(!t.halted && !t.in_kernel() && !t.preempted_at && !t.quantum_over);
    check(in_user_mode(t));
    check(spaces::valid_utcb(*t.space, t.utcb_address));
    check(*reinterpret_cast<volatile Word*>(UTCB_WORD_PAGE) == t.utcb_address);
    check(t.utcb && in_utcb_areas(t.utcb_address) && t.utcb_address >> 20 == utcb_section(*t.space));
    check(cpu::read_domain_access() == t.space->arch.dacr || !t.space->arch.dacr);
    check(cpu::read_process_id() == t.space->arch.pid && !(t.space->arch.pid & 0x1ffffff));
    check(!(t.fast_veto & veto_senders) == t.senders.empty());
    check(!(t.fast_veto & veto_redirected) == !t.space->redirected());
    return true;
}

}  // namespace checks
