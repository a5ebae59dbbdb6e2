// SPDX-License-Identifier: BSD-2-Clause
// Inter-process communication (manual 5): the rendezvous of a sender and a receiver, by system call or by the kernel in
// a thread's name. transfer.hpp moves the message; this file matches the two.
#pragma once

#include "core/thread.hpp"

namespace ipc {

// The system call. MR0 is in the caller's UTCB already; `timeouts` holds the send timeout high and the receive timeout
// low. Results stand in the caller's registers when it runs next.
void call(Thread& caller, ThreadId to, ThreadId from, Word timeouts);

// Messages in the name of a thread, which blocks until the answer. A thread whose partner does not exist is halted.
void page_fault(Thread& t, VAddr address, Word rights);
void port_fault(Thread& t, Fpage ports);
void exception(Thread& t, Word number, Word error);
// Tells the exception handler of the preemption at `preempted_at`, if the handler waits for that; the thread continues
// at once.
void tell_preemption(Thread& t);
// Tells the scheduler of `t` that its total quantum is used up, after a call of its own that is in progress
// (`quantum_over`). Delivered or not, the thread waits for an answer of its scheduler, or for a new quantum.
void quantum_exhausted(Thread& t);
void quantum_renewed(Thread& t);
// Waits for the start message of the pager that its UTCB names.
void wait_for_start(Thread& t);

// An interrupt came in for its thread.
void interrupt(Thread& irq);
// Starts an interrupt thread: it waits for its handler's acknowledgements.
void attach(Thread& irq, ThreadId handler);

// The time of a waiting thread is over.
void timed_out(Thread& t);
// The phase of an IPC that a thread is in, waiting for its partner or with its message in transfer.
bool sending(const Thread& t);
bool receiving(const Thread& t);
// Ends the given phases of a thread's IPC (ExchangeRegisters): error 3 "canceled", or 7 "aborted" while its strings are
// in transfer.
void cancel(Thread& t, bool send, bool receive);
// Takes a thread that is being deleted out of every queue.
void unwind(Thread& t);
// Ends the IPC of some of the threads that wait to send to `t` by an id that is not its own (error 2). True when none
// is left.
bool reject_senders(Thread& t);
// Continues the search for a sender (Continuation::receive).
void resume(Thread& t);
// The answer to its page fault was incomplete: it waits for another.
void wait_on(Thread& t);
// Takes a thread out of the queues that it waits in; the caller sets its next state.
void detach(Thread& t);
// The message of `s` is complete at `r`, which can run; `s` proceeds to its next phase. `apparent`: the apparent
// sender.
void arrived(Thread& s, Thread& r, Thread* apparent);
// If `t` waits for a message from a single thread that does not exist any more, it gets error 2, as if the wait began
// now. Threads that wait for their start, interrupt threads and threads without a quantum keep waiting: the thread that
// they wait for can be changed.
void end_vain_wait(Thread& t);
// Cancels the thread's IPC, except the wait for its start.
void end_activity(Thread& t);

}  // namespace ipc
