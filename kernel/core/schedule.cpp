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

// Not a copy in each caller, of which the choice of the next thread had three.
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

// The rest of a time slice that was given away (ThreadSwitch, manual 3.4): whoever is worse than the giver has to wait
// until the taker has used it up. Meanwhile that has the giver's priority if it is higher than its own, and is queued
// by it.
struct Donation {
    Thread* taker;
    Word priority;                  // the giver's
    Word own;                       // the taker's
    Microseconds left;              // by the clock, whatever becomes of the taker's own time slice meanwhile
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

// What a taker's priority becomes with what it is given.
void apply_donation() {
    change_priority(*donation.taker, donation.priority > donation.own ? donation.priority : donation.own);
}

// A halted thread runs no user instruction; what the kernel does for it goes on.
bool stopped(const Thread& t) { return t.halted && !t.in_kernel(); }

bool goes_first(const Thread* t) { return t && t->ready_link.queued() && t->priority >= ready_top; }

// Whether `t` is asked to go on although `better` should run: it wants preemptions delayed and may (manual 3.6). Not if
// the next tick might be too late to end that.
bool delays(Thread& t, const Thread& better) {
    check(t.delay_left <= t.maximum_delay());
    if (better.priority > t.sensitive_priority() || t.delay_left < longest_tick) return false;
    if (!(t.utcb->flags() & preemption_delay)) return false;
    t.utcb->flags() |= preemption_pending;
    t.put_off = true;
    return true;
}

bool signals(Thread& t, const Thread& better) {
    return better.priority <= t.sensitive_priority() && t.utcb->flags() & preemption_signal;
}

// A preemption that was put off has taken place, or is no more.
[[gnu::cold, gnu::noinline]] void end_put_off(Thread& t) {
    t.put_off = false;
    t.utcb->flags() &= ~Word{preemption_pending};
}

// Nobody has said that it is to be: its turn has come, with a new time slice if it has none left.
Thread* run_in_turn(Thread& t) {
    if (!t.timeslice_left) reset_timeslice(t);
    return &t;
}

Thread* choose(Thread* current) {
    Wishes wish = wishes;
    wishes = {};
    // A message to the running thread may have queued it.
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

// Time that a thread had put a preemption off for is over: it is told so, whether it wants signals or not.
void end_delay(Thread& t) {
    end_put_off(t);
    t.utcb->flags() &= ~Word{preemption_delay};
    t.preempted_at = arch::now();
}

// Whether nothing is left then.
[[gnu::cold, gnu::noinline]] bool spend(Microseconds& left, Word us) { return (left -= left < us ? left : us) == 0; }

}  // namespace

bool can_run(const Thread& t) { return t.is(State::ready) && !stopped(t); }

[[gnu::noinline]] void make_ready(Thread& t) {
    check(t.utcb && !t.is_interrupt());
    check(!t.partner && !t.sender_link.queued() && !t.timeout.queued());
    // What others gave it of their time slices was for the turn that it gave up to wait.
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
        // What it was given itself it gives on. An endless time slice is lent for as long as the taker's own lasts.
        Donation given = donation;
        if (given.taker != &current)
            given = {
                to, current.priority, 0, current.timeslice.is_never() ? to->timeslice_left : current.timeslice_left};
        if (donation.taker) take_donation_back();
        donation = {to, given.priority, to->priority, given.left};
        to->fast_veto |= veto_donated;  // it has to be seen to wait
        apply_donation();
        to->timeslice_left += current.timeslice_left;
        current.timeslice_left = 0;     // until its next turn (manual 3.4): two that switch to and fro make no time
    } else {
        end_donation(current);
        if (current.put_off) end_put_off(current);
        rearm_delay(current);
        reset_timeslice(current);
    }
}

Thread* next(Thread* current) {
    Thread* t = choose(current);
    check(!t || (can_run(*t) && !t->ready_link.queued()));
    if (t && t != current && t->put_off) end_put_off(*t);
    return t;
}

void interrupted() { wishes.asynchronous = true; }

// Not a copy in each caller: text is scarce.
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

// Seldom enough to be made for size.
[[gnu::cold]] bool tick(Thread& current, Word us) {
    Word flags = current.utcb->flags();
    // At the last tick that is not too late.
    if (current.put_off && flags & preemption_delay && current.delay_left >= longest_tick &&
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
