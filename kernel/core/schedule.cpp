// SPDX-License-Identifier: BSD-2-Clause
#include "core/schedule.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"

void ReadyQueue::mark(Word priority) {
    check(priority < priorities);
    occupied_[priority / 32] |= 1u << priority % 32;
    if (priority > ready_top) ready_top = priority;
}

void ReadyQueue::unmark(Word priority) {
    occupied_[priority / 32] &= ~(1u << priority % 32);
    if (priority != ready_top) return;
    ready_top = 0;
    for (int i = static_cast<int>(priority / 32); i >= 0; --i)
        if (occupied_[i]) {
            ready_top = static_cast<Word>(i) * 32 + 31 - static_cast<Word>(__builtin_clz(occupied_[i]));
            return;
        }
}

void ReadyQueue::push_back(Thread& t) {
    check(schedule::can_run(t));
    queues_[t.priority].push_back(t);
    mark(t.priority);
}

void ReadyQueue::push_front(Thread& t) {
    check(schedule::can_run(t));
    queues_[t.priority].push_front(t);
    mark(t.priority);
}

// Not inlined: next() alone would have three copies.
[[gnu::noinline]] void ReadyQueue::remove(Thread& t) {
    check(occupied_[t.priority / 32] >> t.priority % 32 & 1);
    check(t.priority <= ready_top);
    queues_[t.priority].remove(t);
    if (queues_[t.priority].empty()) unmark(t.priority);
}

Thread* ReadyQueue::front() const {
    check(!queues_[ready_top].empty() || !ready_top);
    return queues_[ready_top].front();
}

Word ReadyQueue::count() const {
    constexpr Word wrong = ~Word{0};
    Word queued = 0, top = 0;
    for (Word priority = 0; priority < priorities; ++priority) {
        const Queue& queue = queues_[priority];
        if (queue.empty() == bool(occupied_[priority / 32] >> priority % 32 & 1)) return wrong;
        if (!queue.empty()) top = priority;
        for (const Thread* t = queue.front(); t; t = queue.after(*t), ++queued)
            if (t->priority != priority) return wrong;
    }
    return top == ready_top ? queued : wrong;
}

namespace schedule {

ReadyQueue ready;

namespace {

// What a system call or an interrupt has decided for the next choice; only next() reads and clears it.
struct Wishes {
    Thread* favourite;              // shall run next
    bool yields;                    // the running thread gives way to its equals
    bool slice_over;                // so does its time slice
    bool asynchronous;              // not the running thread's own doing: an interrupt
} wishes;

// A donated time slice (ThreadSwitch, manual 3.4): threads of lower priority than the donor wait until the taker has
// used it up. Meanwhile the taker runs and is queued at the donor's priority if that is higher than its own.
struct Donation {
    Thread* taker;
    Word priority;                  // the donor's
    Word own;                       // the taker's
    Microseconds left;              // in elapsed time, independent of the taker's own time slice
} donation;

[[gnu::cold]] void change_priority(Thread& t, Word priority) {
    bool queued = t.ready_link.queued();
    if (queued) ready.remove(t);
    t.priority = priority;
    if (queued) ready.push_back(t);
}

[[gnu::cold, gnu::noinline]] void take_donation_back() {
    Thread& t = *donation.taker;
    donation.taker = nullptr;
    t.fast_veto &= ~Word{veto_donated};
    change_priority(t, donation.own);
}

void end_donation(const Thread& taker) {
    if (donation.taker == &taker) take_donation_back();
}

// The taker's effective priority is the higher of the two.
void apply_donation() {
    change_priority(*donation.taker, donation.priority > donation.own ? donation.priority : donation.own);
}

// A halted thread runs no user instruction; operations of the kernel for it continue.
bool stopped(const Thread& t) { return t.halted && !t.in_kernel(); }

bool goes_first(const Thread* t) { return t && t->ready_link.queued() && t->priority >= ready_top; }

// Whether a preemption of `t` by `better` is delayed: `t` asks for that and may (manual 3.6). Not if the next tick may
// be too late to end the delay.
bool delays(Thread& t, const Thread& better) {
    check(t.delay_left <= t.maximum_delay());
    if (better.priority > t.sensitive_priority() || t.delay_left < longest_tick) return false;
    if (!(t.utcb->flags() & preemption_delay)) return false;
    t.utcb->flags() |= preemption_pending;
    t.delay_granted = true;
    return true;
}

bool signals(Thread& t, const Thread& better) {
    return better.priority <= t.sensitive_priority() && t.utcb->flags() & preemption_signal;
}

// The delayed preemption has taken place, or is not due any more.
[[gnu::cold, gnu::noinline]] void end_granted_delay(Thread& t) {
    t.delay_granted = false;
    t.utcb->flags() &= ~Word{preemption_pending};
}

// The thread is chosen in its turn, not by a donation or hand-over: it gets a new time slice if it has none left.
Thread* run_in_turn(Thread& t) {
    if (!t.timeslice_left) reset_timeslice(t);
    return &t;
}

Thread* choose(Thread* current) {
    Wishes wish = wishes;
    wishes = {};
    // The running thread may have been sent a message, which queued it.
    if (current && current->ready_link.queued()) ready.remove(*current);

    if (current && can_run(*current)) {
        Thread* best = ready.front();
        bool equal = best && best->priority == current->priority;
        if (wish.yields) {
            if (equal && !wish.favourite) return run_in_turn(ready.rotate(*current));
            ready.push_back(*current);
        } else {
            bool preempts = best && (best->priority > current->priority || (equal && wish.slice_over));
            if (preempts && delays(*current, *best)) return current;
            if (wish.slice_over) reset_timeslice(*current);
            if (!preempts) return current;
            if (wish.asynchronous && !current->preempted_at && signals(*current, *best))
                current->preempted_at = arch::now();
            wish.slice_over ? ready.push_back(*current) : ready.push_front(*current);
            wish.favourite = nullptr;
        }
    } else if (current) {
        end_donation(*current);         // it may have halted itself
    }
    Thread* chosen = wish.favourite;
    if (goes_first(chosen)) {
        ready.remove(*chosen);
        return chosen;
    }
    chosen = ready.front();
    if (!chosen) return nullptr;
    ready.remove(*chosen);
    return run_in_turn(*chosen);
}

// The maximum delay is over: the thread is preempted, and told so whether it wants signals or not.
void end_delay(Thread& t) {
    end_granted_delay(t);
    t.utcb->flags() &= ~Word{preemption_delay};
    t.preempted_at = arch::now();
}

// Whether it is used up.
[[gnu::cold, gnu::noinline]] bool spend(Microseconds& left, Word us) { return (left -= left < us ? left : us) == 0; }

}  // namespace

bool can_run(const Thread& t) { return t.is(State::ready) && !stopped(t); }

[[gnu::noinline]] void make_ready(Thread& t) {
    check(t.utcb && !t.is_interrupt());
    check(!t.partner && !t.sender_link.queued() && !t.timeout.queued());
    // Donated time was for the turn that it gave up when it blocked.
    if (!t.is(State::ready)) {
        end_donation(t);
        if (t.timeslice_left > t.timeslice.period()) reset_timeslice(t);
    }
    t.become(State::ready);
    if (!stopped(t) && !t.ready_link.queued()) ready.push_back(t);
}

void hand_over(Thread& t) {
    make_ready(t);
    wishes.favourite = &t;
}

void make_unready(Thread& t, State state) {
    if (t.ready_link.queued()) ready.remove(t);
    if (wishes.favourite == &t) wishes.favourite = nullptr;
    end_donation(t);
    t.become(state);
}

[[gnu::cold]] void end_pending(Thread& t, State state) {
    t.pending = Continuation::nothing;
    make_unready(t, state);
}

[[gnu::cold]] void yield(Thread& current, Thread* to) {
    check(to != &current);
    wishes.yields = true;
    wishes.favourite = to && to->ready_link.queued() ? to : nullptr;
    if (wishes.favourite) {
        // A donation to the donor is passed on. An endless time slice is lent for as long as the taker's own lasts.
        Donation given = donation;
        if (given.taker != &current)
            given = {
                to, current.priority, 0, current.timeslice.is_never() ? to->timeslice_left : current.timeslice_left};
        if (donation.taker) take_donation_back();
        donation = {to, given.priority, to->priority, given.left};
        to->fast_veto |= veto_donated;  // the slow path must see it block, which ends the donation
        apply_donation();
        to->timeslice_left += current.timeslice_left;
        current.timeslice_left = 0;     // until its next turn (manual 3.4): switching to and fro must create no time
    } else {
        end_donation(current);
        if (current.delay_granted) end_granted_delay(current);
        rearm_delay(current);
        reset_timeslice(current);
    }
}

Thread* next(Thread* current) {
    Thread* t = choose(current);
    check(!t || (can_run(*t) && !t->ready_link.queued()));
    if (t && t != current && t->delay_granted) end_granted_delay(*t);
    return t;
}

void interrupted() { wishes.asynchronous = true; }

// Not inlined: text is scarce.
[[gnu::noinline]] void reset_timeslice(Thread& t) {
    t.timeslice_left = t.timeslice.is_never() ? 0 : t.timeslice.period();
}

void set_timeslice(Thread& t, Time slice) {
    check(!slice.is_point() && !slice.is_zero());
    t.timeslice = slice;
    reset_timeslice(t);
}

[[gnu::cold]] void set_total_quantum(Thread& t, Time quantum) {
    check(!quantum.is_point());
    t.total_quantum = quantum;
    t.quantum_left = quantum.is_never() ? 0 : quantum.period();
}

void rearm_delay(Thread& t) { t.delay_left = t.maximum_delay(); }

// Rare enough to be compiled for size.
[[gnu::cold]] bool tick(Thread& current, Word us) {
    Word flags = current.utcb->flags();
    // At the last tick before the maximum delay would be exceeded.
    if (current.delay_granted && flags & preemption_delay && current.delay_left >= longest_tick &&
        (current.delay_left -= longest_tick) < longest_tick)
        end_delay(current);
    bool donated = donation.taker == &current;
    if ((donated || !current.timeslice.is_never()) && spend(current.timeslice_left, us)) wishes.slice_over = true;
    if (donated && spend(donation.left, us)) end_donation(current);
    return !current.total_quantum.is_never() && spend(current.quantum_left, us);
}

[[gnu::cold]] void set_priority(Thread& t, Word priority) {
    check(priority < ReadyQueue::priorities);
    if (donation.taker != &t) return change_priority(t, priority);
    donation.own = priority;
    apply_donation();
}

Word own_priority(const Thread& t) { return donation.taker == &t ? donation.own : t.priority; }

}  // namespace schedule
