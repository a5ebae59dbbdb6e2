// SPDX-License-Identifier: BSD-2-Clause
#include "core/ipc.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/mapping_tree.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"
#include "core/string_transfer.hpp"
#include "core/timeout.hpp"
#include "core/trace.hpp"
#include "core/transfer.hpp"

namespace ipc {
namespace {

// Ends an IPC of `t` with an error. If the kernel made it in the thread's name, the instruction is restarted: after a
// cancellation it faults again, or execution starts where ExchangeRegisters said; without a pager or exception handler
// the thread is halted first (manual 7.5).
void fail(Thread& t, IpcError error, Phase phase) {
    check(t.active() && !t.waits_fast());
    check(!t.partner && !t.sender_link.queued());
    timeouts::cancel(t);
    Role role = phase == Phase::send ? t.send_role : t.receive_role;
    trace::event(trace::Event::ipc_failed, t.id, ipc_error_code(error, phase), static_cast<Word>(role));
    switch (role) {
    case Role::user:
        t.utcb->error_code() = ipc_error_code(error, phase);
        arch::set_ipc_result(t, ThreadId::nil(), MsgTag::error_bit);
        schedule::make_ready(t);
        return;
    case Role::interrupt:
        t.become(State::receiving);     // without a handler the line stays masked until an acknowledgement
        return;
    case Role::page_fault:
    case Role::port_fault:
        if (t.transfer) return strings::fault_unresolved(t);
        [[fallthrough]];
    case Role::exception:
    case Role::startup:
        if (error == IpcError::no_partner) t.halted = true;
        schedule::make_ready(t);
        return;
    case Role::quantum:
        // Delivered or not, it waits for its scheduler; if that wait is canceled it runs until the next tick.
        if (phase == Phase::send && error != IpcError::canceled) {
            t.become(State::receiving);
            return;
        }
        [[fallthrough]];
    case Role::preemption:              // a message that cannot be delivered is dropped (manual 7.4)
        schedule::make_ready(t);
        return;
    }
}

// Whether the preempted receive phase of `t` continues with this sender.
bool looks_at(const Thread& t, const Thread* sender) {
    return t.pending == Continuation::receive && t.next_sender == sender;
}

[[gnu::cold]] void leave_queue(Thread& sender) {
    check(sender.partner && sender.is(State::sending));
    check(sender.partner->fast_veto & veto_senders);
    Thread& partner = *sender.partner;
    if (looks_at(partner, &sender)) partner.next_sender = partner.senders.after(sender);
    partner.senders.remove(sender);
    if (partner.senders.empty()) partner.fast_veto &= ~Word{veto_senders};
    sender.partner = nullptr;
}

bool accepts(const Thread& receiver, const Thread& sender) {
    ThreadId awaited = receiver.awaits();
    if (awaited == sender.id || awaited.is_any()) return true;
    return awaited.is_any_local() && sender.space == receiver.space && !sender.is_interrupt();
}

// Whether `s` is a redirector of `originator`, or one of its redirector's, and so on (manual 5.4).
bool redirects(const Thread& s, const Thread& originator) {
    constexpr int longest_chain = 16;
    const Thread* t = &originator;
    for (int i = 0; i < longest_chain && t && t->space->redirected(); ++i) {
        t = threads::find(t->space->redirector);
        if (t == &s) return true;
    }
    return false;
}

// The apparent sender of a message from `s` to `r`: VirtualSender if the tag asks for it and the manual (5.4) allows
// it, else `s`.
[[gnu::noinline]] Thread& apparent_sender(const Thread& s, const Thread& r) {
    Thread& self = const_cast<Thread&>(s);
    if (s.virtual_sender == s.id) return self;
    Thread* v = threads::find(s.virtual_sender);
    if (!v) return self;
    bool interrupt_of_mine = v->is_interrupt() && v->awaited == s.id;
    return v->space == s.space || s.space == r.space || interrupt_of_mine || redirects(s, *v) ? *v : self;
}

// The receiver of a message from `s`, whose space has a redirector, to `to`: that redirector, unless `to` lives in that
// space or in the redirector's; for a controlled space always. What a controlled thread sends itself always has an
// intended receiver, and what the kernel sends for it never, so that the redirector can tell them apart. nullptr if
// there is none.
[[gnu::cold, gnu::noinline]] Thread* deflect(Thread& s, Thread* to) {
    Thread* redirector = threads::find(s.space->redirector);
    if (!s.space->controlled && (to->space == s.space || (redirector && redirector->space == to->space))) return to;
    if (!s.space->controlled || s.send_role == Role::user) s.intended = to->id;
    return redirector;
}

// `r` continues its search for a sender, at next_sender, when it runs next.
[[gnu::cold]] void receive_later(Thread& r) {
    r.pending = Continuation::receive;
    schedule::make_ready(r);
}

// The awaited sender has changed while `r` waits: a message in that one's name may be queued already. The timeout
// starts anew.
[[gnu::cold]] void look_again(Thread& r) {
    if (!r.timeout.queued()) r.receive_timeout = Time::never().raw;
    timeouts::cancel(r);
    r.receive_follows = true;
    r.next_sender = r.senders.front();
    receive_later(r);
}

// The message is complete: the receiver can run.
void received(Thread& s, Thread& r, Thread* apparent) {
    check(&s != &r);
    trace::event(trace::Event::message, s.id, r.id.raw, (s.send_role == Role::user ? s.utcb->mr[0] : s.message.tag.raw),
        static_cast<Word>(s.send_role), static_cast<Word>(r.receive_role));
    // If the apparent sender waits for the propagator, it now waits for the receiver of the message.
    if (apparent && apparent != &s && apparent->awaits() == s.id) {
        bool looks = apparent->pending == Continuation::receive;
        apparent->close();
        if (looks || apparent->is(State::receiving)) apparent->awaited = r.id;
        if (looks) apparent->next_sender = apparent->senders.front();
        else if (apparent->is(State::receiving) && apparent->receive_role == Role::user && !apparent->senders.empty())
            look_again(*apparent);
    }
    if (r.receive_role == Role::interrupt) arch::unmask_interrupt(r.id.number());
    else schedule::hand_over(r);
}

void block(Thread& t, State state, Time timeout) {
    check(state == State::sending || state == State::receiving);
    check(!t.timeout.queued());
    schedule::make_unready(t, state);
    if (t.transfer) strings::start_timeout(t);
    else if (!timeout.is_never()) timeouts::start(t, timeouts::end_of(timeout, arch::now()));
}

// Moves the message of `s` to `r`, which accepts it. True if `r` can run and `s` proceeds to its next phase. False if
// the message had typed items: they take long, so `s` has proceeded already or does so when it runs next.
bool deliver(Thread& s, Thread& r, Thread& apparent) {
    check(r.waits_for_message() && accepts(r, apparent));
    check(!s.partner);
    r.close();
    timeouts::cancel(r);
    // The stretch may have been long before this: the budget leaves room for what a large page may need.
    constexpr Word begins_with = mappings::between_points / (mappings::several_sizes ? 2 : 1);
    Word budget = begins_with;
    Moved moved = transfer(s, r, apparent, budget);
    if (moved == Moved::part) return false;
    if (moved == Moved::overflow) {
        // A user-level receiver finds the error in the message received. A thread that waits for its start, or for the
        // answer to a page fault or exception, keeps waiting: the thread that answered gets the error, while a repeated
        // fault message would tell it nothing. An interrupt thread has nothing to run.
        switch (r.receive_role) {
        case Role::startup:
        case Role::interrupt:
        case Role::page_fault:
        case Role::port_fault:
        case Role::exception: wait_on(r); break;
        default: schedule::make_ready(r);
        }
        fail(s, IpcError::overflow, Phase::send);
        return false;
    }
    if (budget < begins_with) return arrived(s, r, &apparent), false;
    received(s, r, &apparent);
    return true;
}

// Searches some of the senders of `r`, from next_sender on. True when done: next_sender is one that `r` accepts, or
// nullptr. To check a sender may take a walk along a chain of redirectors, and a message can take a whole stretch: a
// sender that is found behind others is served in the next stretch.
[[gnu::cold]] bool find_sender(Thread& r) {
    constexpr Word between_points = 6;
    for (Word n = 0; n < between_points && r.next_sender; ++n, r.next_sender = r.senders.after(*r.next_sender)) {
        Thread& s = *r.next_sender;
        if (s.addressed == r.identity && accepts(r, apparent_sender(s, r))) return !n;
    }
    return !r.next_sender;
}

bool expired(Time timeout) {
    Microseconds now = arch::now();
    return timeouts::end_of(timeout, now) <= now;
}

// Returns a sender that waited for `r` and has been served: its send phase has ended.
Thread* receive(Thread& r) {
    check(r.receive_follows && !r.partner);
    Time timeout{static_cast<std::uint16_t>(r.receive_timeout)};
    if (!find_sender(r)) return receive_later(r), nullptr;
    r.become(State::receiving);
    if (Thread* s = r.next_sender) {
        Thread& apparent = apparent_sender(*s, r);
        leave_queue(*s);
        timeouts::cancel(*s);
        return deliver(*s, r, apparent) ? s : nullptr;
    }
    if (!r.awaited.is_any() && !r.awaited.is_any_local() && !threads::find(r.awaited)) {
        fail(r, IpcError::no_partner, Phase::receive);
    } else if (expired(timeout)) {
        fail(r, IpcError::timeout, Phase::receive);
    } else {
        block(r, State::receiving, timeout);
        Role role = r.receive_role;
        bool fast = role == Role::user ? r.fast_entry : role == Role::exception || role == Role::page_fault;
        bool plain = fast && timeout.is_never() && !r.halted && r.continuation() == Continuation::nothing;
        if (plain && r.awaited.is_global() && !r.awaited.is_any_local() && arch::offer_fast_frame(r)) r.open();
    }
    return nullptr;
}

// The send phase of `s` has succeeded, in another thread's receive phase unless it is `first`. Serving one thread's
// receive phase may end another's send phase, and so on: users can make that chain as long as they like. So only the
// first is served now; the others do the same when they run next, if they have senders. That delay is not observable.
void after_send(Thread* s, bool first = true) {
    for (; s; first = false) {
        if (!s->receive_follows) {
            if (s->send_role == Role::user) arch::set_ipc_result(*s, ThreadId::nil(), 0);
            return schedule::make_ready(*s);
        }
        // The only sender that an interrupt thread accepts, its handler, is never queued (begin_send).
        s->next_sender = s->is_interrupt() ? nullptr : s->senders.front();
        if (!first && s->receive_role == Role::user && s->next_sender) return receive_later(*s);
        s = receive(*s);
    }
}

void begin_send(Thread& s, ThreadId to, Time timeout) {
    check(!s.partner && !s.sender_link.queued());
    Thread* r = to.is_any() || to.is_any_local() ? nullptr : threads::find(to, s);
    s.intended = ThreadId::nil();
    if (r && s.space->redirected() && !s.is_interrupt()) r = deflect(s, r);
    if (!r || !r->active()) return fail(s, IpcError::no_partner, Phase::send);
    Thread& apparent = apparent_sender(s, *r);
    // A closed receive whose search through the queue was preempted: the awaited partner must not find it busy because
    // of other threads' messages. For an open receive that finds senders queued, a timeout is right.
    if (r->pending == Continuation::receive && !r->awaited.is_any() && accepts(*r, apparent)) {
        schedule::end_pending(*r, State::receiving);
    }
    if (r->waits_for_message() && accepts(*r, apparent)) {
        if (deliver(s, *r, apparent)) after_send(&s);
    } else if (r->is_interrupt() && accepts(*r, apparent)) {
        // An acknowledgement is always taken, also while the next interrupt waits to be received (sheet 6.4).
        after_send(&s);
    } else if (expired(timeout)) {
        fail(s, IpcError::timeout, Phase::send);
    } else {
        block(s, State::sending, timeout);
        s.partner = r;
        s.addressed = r->identity;
        r->senders.push_back(s);
        if (looks_at(*r, nullptr)) r->next_sender = &s;
        r->fast_veto |= veto_senders;
    }
}

// Sends a message of the kernel's in the name of `t` and waits for the answer, but for a preemption's, which is a
// notification only (manual 7.4).
void kernel_call(Thread& t, Role role, ThreadId to, Time send_timeout = Time::never()) {
    const Word* words = t.message.words;
    trace::event(trace::Event::fault, t.id, static_cast<Word>(role), words[0], words[1], words[2]);
    t.send_role = t.receive_role = role;
    t.virtual_sender = t.id;
    Thread* partner = threads::find(to, t);
    t.awaited = partner ? partner->id : to;
    t.receive_follows = role != Role::preemption;
    t.receive_timeout = Time::never().raw;
    begin_send(t, t.awaited, send_timeout);
}

// Manual 7.4: dropped if the receiver does not wait for it.
void preemption_message(Thread& t, Role role, ThreadId to, Microseconds when) {
    t.message.tag = MsgTag::make(label_preemption, 2);
    t.message.words[0] = static_cast<Word>(when);
    t.message.words[1] = static_cast<Word>(when >> 32);
    kernel_call(t, role, to, Time::zero());
}

}  // namespace

void call(Thread& caller, ThreadId to, ThreadId from, Word raw_timeouts) {
    check(&caller == arch::current_thread() && caller.is(State::ready));
    check(!caller.in_kernel() && !caller.partner);
    Utcb& utcb = *caller.utcb;
    MsgTag tag{utcb.mr[0]};
    caller.send_role = caller.receive_role = Role::user;
    caller.receive_follows = !from.is_nil();
    caller.receive_timeout = raw_timeouts & 0xffff;
    caller.awaited = from;
    if (from.is_local() && !from.is_any_local())
        if (Thread* t = threads::find(from, caller)) caller.awaited = t->id;
    caller.virtual_sender = caller.id;
    if (tag.propagated()) {
        Thread* v = threads::find({utcb.virtual_sender()}, caller);
        if (v) caller.virtual_sender = v->id;
    }

    if (!to.is_nil()) begin_send(caller, to, Time{static_cast<std::uint16_t>(raw_timeouts >> 16)});
    else after_send(&caller);
}

void page_fault(Thread& t, VAddr address, Word rights) {
    t.message.tag = MsgTag::make(label_page_fault | rights, 2);
    t.message.words[0] = address;
    t.message.words[1] = arch::user_ip(t);
    kernel_call(t, Role::page_fault, {t.utcb->pager()});
}

[[gnu::cold]] void port_fault(Thread& t, Fpage ports) {
    t.message.tag = MsgTag::make(label_port_fault | Word{right_read | right_write}, 2);
    t.message.words[0] = ports.raw;
    t.message.words[1] = arch::user_ip(t);
    kernel_call(t, Role::port_fault, {t.utcb->pager()});
}

[[gnu::cold]] void exception(Thread& t, Word number, Word error) {
    arch::exception_message(t, number, error, t.message);
    kernel_call(t, Role::exception, {t.utcb->exception_handler()});
}

// Rare functions are cold, that is, compiled for size.
[[gnu::cold]] void tell_preemption(Thread& t) {
    Microseconds when = t.preempted_at;
    t.preempted_at = 0;
    preemption_message(t, Role::preemption, {t.utcb->exception_handler()}, when);
}

[[gnu::cold]] void quantum_exhausted(Thread& t) {
    t.quantum_over = t.in_kernel();     // after the call in progress
    if (!t.quantum_over) preemption_message(t, Role::quantum, t.scheduler, arch::now());
}

[[gnu::cold]] void quantum_renewed(Thread& t) {
    t.quantum_over = false;
    if (!receiving(t) || t.receives_as() != Role::quantum || t.transfer) return;
    schedule::end_pending(t, State::receiving);
    schedule::make_ready(t);
}

[[gnu::cold]] void wait_for_start(Thread& t) {
    t.receive_role = Role::startup;
    t.awaited = {t.utcb->pager()};
    t.receive_timeout = Time::never().raw;
    // Its pager need not exist yet.
    t.become(State::receiving);
}

[[gnu::cold]] void attach(Thread& irq, ThreadId handler) {
    check(!irq.active() && !irq.partner && !irq.ready_link.queued());
    irq.send_role = irq.receive_role = Role::interrupt;
    irq.virtual_sender = irq.id;
    irq.awaited = handler;
    irq.receive_follows = true;
    irq.become(State::receiving);
    irq.message.tag = MsgTag::make(label_interrupt, 0);
}

void interrupt(Thread& irq) {
    check(irq.is_interrupt() && !irq.ready_link.queued());
    if (irq.is(State::receiving)) begin_send(irq, irq.awaited, Time::never());
}

[[gnu::cold]] void timed_out(Thread& t) {
    check(t.is(State::sending) || t.is(State::receiving));
    check(!t.timeout.queued());
    if (t.transfer) return strings::fault_unresolved(t);
    if (t.is(State::sending)) {
        leave_queue(t);
        fail(t, IpcError::timeout, Phase::send);
    } else if (t.is(State::receiving)) {
        fail(t, IpcError::timeout, Phase::receive);
    }
}

bool sending(const Thread& t) { return t.transfer ? strings::sends(t) : t.is(State::sending); }
bool receiving(const Thread& t) {
    return t.transfer ? !strings::sends(t) : t.waits_for_message() || t.pending == Continuation::receive;
}

[[gnu::cold]] void cancel(Thread& t, bool send, bool receive) {
    if (t.transfer) {
        if (!(strings::sends(t) ? send : receive)) return;
        strings::abort(t);
    }
    if (t.is(State::sending) && send) {
        leave_queue(t);
        fail(t, IpcError::canceled, Phase::send);
    } else if (receive && receiving(t)) {
        schedule::end_pending(t, State::receiving);
        fail(t, IpcError::canceled, Phase::receive);
    }
}

void resume(Thread& t) {
    check(t.pending == Continuation::receive && t.receive_follows);
    t.pending = Continuation::nothing;
    after_send(receive(t), false);
}

void wait_on(Thread& t) { block(t, State::receiving, Time::never()); }

void detach(Thread& t) {
    timeouts::cancel(t);
    if (t.partner) leave_queue(t);
    schedule::end_pending(t, State::inactive);
}

void arrived(Thread& s, Thread& r, Thread* apparent) {
    received(s, r, apparent);
    after_send(&s, false);      // the transfer took long: no other message follows in this stretch
}

[[gnu::cold]] void unwind(Thread& t) {
    if (t.transfer) strings::abort(t);
    detach(t);
}

[[gnu::cold]] bool reject_senders(Thread& t) {
    constexpr Word between_points = 8;
    for (Word n = 0; n < between_points; ++n) {
        Thread* s = t.senders.front();      // senders by another id were queued before all others
        if (!s || s->addressed == t.identity) return true;
        leave_queue(*s);
        fail(*s, IpcError::no_partner, Phase::send);
    }
    return false;
}

[[gnu::cold]] void end_vain_wait(Thread& t) {
    Role role = t.receives_as();
    bool lasts = role == Role::startup || role == Role::interrupt || role == Role::quantum;
    if (!t.waits_for_message() || lasts) return;
    ThreadId awaited = t.awaits();
    if (awaited.is_any() || awaited.is_any_local() || threads::exists(awaited)) return;
    t.close();
    fail(t, IpcError::no_partner, Phase::receive);
}

void end_activity(Thread& t) {
    // Which id a thread that waits for its start waits under is not observable.
    if (!(t.is(State::receiving) && t.receive_role == Role::startup)) cancel(t, true, true);
}

}  // namespace ipc
