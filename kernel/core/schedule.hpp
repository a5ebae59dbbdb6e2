// SPDX-License-Identifier: BSD-2-Clause
// Ready queues, one for each priority. The running thread is never queued (so the common IPC, which makes one thread
// wait and another run, touches no queue), and every queued thread can run.
#pragma once

#include "core/thread.hpp"

// The highest priority with a ready thread, 0 when there is none: the fast path compares the thread that is to run next
// with it. The architecture places it beside what else the fast path reads.
extern "C" Word ready_top;

class ReadyQueue {
public:
    static constexpr Word priorities = 256;

    void push_back(Thread& t);
    void push_front(Thread& t);
    void remove(Thread& t);
    // Queues `t` and removes the first one of its priority, which there must be.
    Thread& rotate(Thread& t) { return queues_[t.priority].rotate(t); }
    // The first thread of the highest priority that has one; nullptr when all queues are empty.
    Thread* front() const;
    // How many are queued; all ones if something does not agree.
    Word count() const;

private:
    using Queue = List<Thread, &Thread::ready_link>;
    void mark(Word priority);
    void unmark(Word priority);

    Queue queues_[priorities];
    Word occupied_[priorities / 32] = {};
};

namespace schedule {

extern ReadyQueue ready;

// Whether a thread is able to run: in the ready queue, or running.
bool can_run(const Thread& t);
// Makes a thread that waited or is new able to run. It is queued unless it is halted.
void make_ready(Thread& t);
// As make_ready, but when the current thread stops to run in this system call, `t` goes first if nothing better waits.
void hand_over(Thread& t);
// The thread is about to wait, or must not run: out of the queue.
void make_unready(Thread& t, State state);
// Gives up the rest of the time slice (ThreadSwitch); donates it to `to` when that can run, which then runs at the
// priority of `current` until the rest is used up, or it waits, yields itself or is halted.
void yield(Thread& current, Thread* to);
// make_unready() of one for which the kernel had something left to do, perhaps, and was ready for its sake alone: no
// more.
void end_pending(Thread& t, State state);
// Queues `current` again if it can still run and does not go on; returns who runs now, nullptr for nobody.
Thread* next(Thread* current);
// What happens until next() is not the running thread's own doing (manual 3.6: an asynchronous preemption).
void interrupted();
// No board's clock ticks more slowly.
constexpr Word longest_tick = 1000;
// One timer tick of `us` for the running thread; true if its total quantum is used up.
bool tick(Thread& current, Word us);
constexpr Time default_timeslice{4 << 10 | 625};        // 10 ms
// Gives a thread a time slice and starts it anew.
void set_timeslice(Thread& t, Time slice);
void reset_timeslice(Thread& t);
// Likewise a total quantum, which it does not get again by itself.
void set_total_quantum(Thread& t, Time quantum);
// A thread may delay preemptions for its maximum delay again.
void rearm_delay(Thread& t);
void set_priority(Thread& t, Word priority);
// As it was set, whatever a donor has lent it.
Word own_priority(const Thread& t);

}  // namespace schedule
