// SPDX-License-Identifier: BSD-2-Clause
#include "core/schedule.hpp"

void ReadyQueue::mark(Word priority) {
    occupied_[priority / 32] |= 1u << priority % 32;
    if (priority > ready_top) ready_top = priority;
}

void ReadyQueue::unmark(Word priority) {
    occupied_[priority / 32] &= ~(1u << priority % 32);
    if (priority != ready_top) return;
    ready_top = 0;
    for (int i = priorities / 32 - 1; i >= 0; --i)
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

namespace schedule {

ReadyQueue ready;

namespace {

// A system call may name who shall run next; only next() reads and clears it.
Thread* favourite;
bool yielding;

bool can_run(const Thread& t) { return t.state == State::ready && !t.halted && !t.open_to; }

}  // namespace

void make_ready(Thread& t) {
    t.state = State::ready;
    if (!t.halted && !t.ready_link.queued()) ready.push_back(t);
}

void hand_over(Thread& t) {
    make_ready(t);
    favourite = &t;
}

void make_unready(Thread& t, State state) {
    if (t.ready_link.queued()) ready.remove(t);
    if (favourite == &t) favourite = nullptr;
    t.state = state;
}

void yield(Thread& current, Thread* to) {
    reset_timeslice(current);
    yielding = true;
    favourite = to && to->ready_link.queued() ? to : nullptr;
}

Thread* next(Thread* current) {
    Thread* chosen = favourite;
    bool yielded = yielding;
    favourite = nullptr;
    yielding = false;
    // A message to the running thread may have queued it.
    if (current && current->ready_link.queued()) ready.remove(*current);

    if (current && can_run(*current)) {
        // The running thread goes on unless a better one is ready, or it gave way to its equals.
        if (yielded) {
            ready.push_back(*current);
            if (chosen && chosen->ready_link.queued()) {
                ready.remove(*chosen);
                return chosen;
            }
        } else if (Thread* best = ready.front(); best && best->priority > current->priority) {
            ready.push_front(*current);
        } else {
            return current;
        }
        chosen = nullptr;
    }
    if (!chosen || !chosen->ready_link.queued() || chosen->priority < ready_top) chosen = ready.front();
    if (chosen) ready.remove(*chosen);
    return chosen;
}

void reset_timeslice(Thread& t) { t.timeslice_left = t.timeslice.is_never() ? 0 : t.timeslice.period(); }

void set_timeslice(Thread& t, Time slice) {
    t.timeslice = slice;
    reset_timeslice(t);
}

void tick(Thread& current, Microseconds us) {
    if (current.timeslice.is_never()) return;
    if (current.timeslice_left > us) {
        current.timeslice_left -= us;
        return;
    }
    yield(current, nullptr);
}

void set_priority(Thread& t, Word priority) {
    bool queued = t.ready_link.queued();
    if (queued) ready.remove(t);
    t.priority = priority;
    if (queued) ready.push_back(t);
}

}  // namespace schedule
