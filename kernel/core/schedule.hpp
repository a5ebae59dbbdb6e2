// SPDX-License-Identifier: BSD-2-Clause
// Ready queues, one for each priority. The running thread is never queued (so the common IPC, which blocks one thread
// and unblocks another, touches no queue), and every queued thread can run.
#pragma once

#include "core/thread.hpp"

// The highest priority with a ready thread, 0 when there is none: the fast path compares the next thread's priority
// with it. The port places it beside the fast path's other data.
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
    // How many are queued; all ones if queues and bitmap disagree.
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
// Unblocks a thread, or starts a new one. It is queued unless it is halted.
void make_ready(Thread& t);
// As make_ready, but if the current thread blocks in this system call, `t` runs next unless a higher priority is ready.
void hand_over(Thread& t);
// Blocks a thread, or stops it: takes it out of the queue.
void make_unready(Thread& t, State state);
// Gives up the rest of the time slice (ThreadSwitch). Donates it to `to` if that can run, which then runs at the
// priority of `current` until the rest is used up, or it blocks, yields or is halted.
void yield(Thread& current, Thread* to);
// make_unready() of a thread that may have been ready only for a pending operation of the kernel, which is dropped.
void end_pending(Thread& t, State state);
// Chooses the thread to run; nullptr: none can. Queues `current` if it can still run and is preempted or yields.
Thread* next(Thread* current);
// What happens from here to next() is asynchronous to the running thread (manual 3.6: an asynchronous preemption).
void interrupted();
// No board's clock ticks more slowly.
constexpr Word longest_tick = 1000;
// One timer tick of `us` for the running thread; true if its total quantum is used up.
bool tick(Thread& current, Word us);
constexpr Time default_timeslice{4 << 10 | 625};        // 10 ms
// Gives a thread a time slice and starts it anew.
void set_timeslice(Thread& t, Time slice);
void reset_timeslice(Thread& t);
// Likewise a total quantum, which is not renewed by itself.
void set_total_quantum(Thread& t, Time quantum);
// A thread may again delay preemptions for its maximum delay.
void rearm_delay(Thread& t);
void set_priority(Thread& t, Word priority);
// The priority that was set, without a donor's.
Word own_priority(const Thread& t);

}  // namespace schedule
