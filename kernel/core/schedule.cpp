// SPDX-License-Identifier: BSD-2-Clause
#include "core/schedule.hpp"

#include "core/arch.hpp"

void ReadyQueue::mark(Word priority) {
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
    queues_[t.priority].push_back(t);
    mark(t.priority);
}

void ReadyQueue::push_front(Thread& t) {
    queues_[t.priority].push_front(t);
    mark(t.priority);
}

void ReadyQueue::remove(Thread& t) {
    queues_[t.priority].remove(t);
    if (queues_[t.priority].empty()) unmark(t.priority);
}

Thread* ReadyQueue::front() const { return queues_[ready_top].front(); }

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

// A halted thread runs no user instruction; what the kernel does for it goes on.
bool stopped(const Thread& t) { return t.halted && !t.in_kernel(); }

// Whether `t` is asked to go on although `better` should run: it wants preemptions delayed and may (manual 3.6).
bool delays(Thread& t, const Thread& better) {
    if (better.priority > t.sensitive_priority() || !t.delay_left) return false;
    if (!(t.utcb->flags() & preemption_delay)) return false;
    t.utcb->flags() |= preemption_pending;
    t.put_off = true;
    return true;
}

bool signals(Thread& t, const Thread& better) {
    return better.priority <= t.sensitive_priority() && t.utcb->flags() & preemption_signal;
}

// It has been taken out of its queue to run.
Thread* run(Thread& t) {
    t.put_off = false;
    return &t;
}

// Nobody has said that it is to be: its turn has come, with a new time slice if it has none left.
Thread* run_in_turn(Thread& t) {
    if (!t.timeslice_left) reset_timeslice(t);
    return run(t);
}

// Time that a thread had put a preemption off for is over: it is told so, whether it wants signals or not.
void end_delay(Thread& t) {
    t.utcb->flags() &= ~Word{preemption_delay};
    t.preempted_at = arch::now();
}

}  // namespace

bool can_run(const Thread& t) { return t.state == State::ready && !stopped(t) && !t.open_to; }

[[gnu::noinline]] void make_ready(Thread& t) {
    // What others gave it of their time slices was for the turn that it gave up to wait.
    if (t.state != State::ready && t.timeslice_left > t.timeslice.period()) reset_timeslice(t);
    t.state = State::ready;
    if (!stopped(t) && !t.ready_link.queued()) ready.push_back(t);
}

void hand_over(Thread& t) {
    make_ready(t);
    wishes.favourite = &t;
}

void make_unready(Thread& t, State state) {
    if (t.ready_link.queued()) ready.remove(t);
    if (wishes.favourite == &t) wishes.favourite = nullptr;
    t.state = state;
}

void yield(Thread& current, Thread* to) {
    wishes.yields = true;
    wishes.favourite = to && to->ready_link.queued() ? to : nullptr;
    if (wishes.favourite) {
        to->timeslice_left += current.timeslice_left;
        current.timeslice_left = 0;     // until its next turn (manual 3.4): two that switch to and fro make no time
    } else {
        rearm_delay(current);
        reset_timeslice(current);
    }
}

Thread* next(Thread* current) {
    Wishes wish = wishes;
    wishes = {};
    // A message to the running thread may have queued it.
    if (current && current->ready_link.queued()) ready.remove(*current);

    if (current && can_run(*current)) {
        Thread* best = ready.front();
        bool equal = best && best->priority == current->priority;
        if (wish.yields) {
            if (wish.favourite && wish.favourite->ready_link.queued()) {
                ready.push_back(*current);
                ready.remove(*wish.favourite);
                return run(*wish.favourite);
            }
            if (equal) return run_in_turn(ready.rotate(*current));
            ready.push_back(*current);
        } else {
            bool preempts = best && (best->priority > current->priority || (equal && wish.slice_over));
            if (preempts && delays(*current, *best)) return current;
            if (wish.slice_over) reset_timeslice(*current);
            if (!preempts) return current;
            if (wish.asynchronous && !current->preempted_at && signals(*current, *best)) current->preempted_at = arch::now();
            wish.slice_over ? ready.push_back(*current) : ready.push_front(*current);
        }
        wish.favourite = nullptr;
    }
    Thread* chosen = wish.favourite;
    if (chosen && chosen->ready_link.queued() && chosen->priority >= ready_top) {
        ready.remove(*chosen);
        return run(*chosen);
    }
    chosen = ready.front();
    if (!chosen) return nullptr;
    ready.remove(*chosen);
    return run_in_turn(*chosen);
}

void interrupted() { wishes.asynchronous = true; }

// Not a copy in each caller: text is scarce.
[[gnu::noinline]] void reset_timeslice(Thread& t) { t.timeslice_left = t.timeslice.is_never() ? 0 : t.timeslice.period(); }

void set_timeslice(Thread& t, Time slice) {
    t.timeslice = slice;
    reset_timeslice(t);
}

void set_total_quantum(Thread& t, Time quantum) {
    t.total_quantum = quantum;
    t.quantum_left = quantum.is_never() ? 0 : quantum.period();
}

void rearm_delay(Thread& t) { t.delay_left = t.maximum_delay(); }

bool tick(Thread& current, Microseconds us) {
    auto spend = [us](Microseconds& left) { return (left -= left < us ? left : us) == 0; };
    Word flags = current.utcb->flags();
    if (current.put_off && flags & preemption_delay && current.delay_left && spend(current.delay_left))
        end_delay(current);
    if (!current.timeslice.is_never() && spend(current.timeslice_left)) wishes.slice_over = true;
    return !current.total_quantum.is_never() && spend(current.quantum_left);
}

void set_priority(Thread& t, Word priority) {
    bool queued = t.ready_link.queued();
    if (queued) ready.remove(t);
    t.priority = priority;
    if (queued) ready.push_back(t);
}

}  // namespace schedule
