// SPDX-License-Identifier: BSD-2-Clause
// Inter-process communication (manual 5): the rendezvous of a sender and a receiver, by system call or made by the
// kernel in a thread's name. transfer.hpp moves the message; here is who meets whom, and when.
#pragma once

#include "core/thread.hpp"

namespace ipc {

// The system call. MR0 is in the caller's UTCB already; `timeouts` holds the send timeout high and the receive timeout
// low. Results stand in the caller's registers when it runs next.
void call(Thread& caller, ThreadId to, ThreadId from, Word timeouts);

// In the name of a thread, which stops running until it is answered. A thread whose partner does not exist is halted.
void page_fault(Thread& t, VAddr address, Word rights);
void port_fault(Thread& t, Fpage ports);
void exception(Thread& t, Word number, Word error);
// Tells the exception handler of the preemption at `preempted_at`, if it waits for that; the thread goes on at once.
void tell_preemption(Thread& t);
// Tells its scheduler that the total quantum of `t` is used up; `quantum_over` if a call of its own is not through yet:
// then that comes first. Told or not, the thread waits: for an answer of its
// scheduler, or for a new quantum.
void quantum_exhausted(Thread& t);
void quantum_renewed(Thread& t);
// Waits for the start message of the pager that its UTCB names.
void wait_for_start(Thread& t);

// An interrupt came in for its thread.
void interrupt(Thread& irq);
// An interrupt thread takes up its post: waits for acknowledgements of its handler.
void attach(Thread& irq, ThreadId handler);

// The time of a waiting thread is over.
void timed_out(Thread& t);
// In which phase of an IPC a thread is, waiting for its partner or with its message on the way.
bool sending(const Thread& t);
bool receiving(const Thread& t);
// Ends the phases named of an IPC (ExchangeRegisters): error 3 "canceled", or 7 "aborted" when its strings are on the
// way.
void cancel(Thread& t, bool send, bool receive);
// Takes a thread that ends out of every queue.
void unwind(Thread& t);
// Tells some of those who wait to send to `t` by an id that is not its own (error 2). True when there are no more.
bool reject_senders(Thread& t);
// It goes on to look for somebody who waits to send to it (Continuation::receive).
void carry_on(Thread& t);
// The answer to its page fault did not come whole: it waits for another.
void wait_on(Thread& t);
// Takes a thread out of what it waits in. The caller says how it goes on.
void detach(Thread& t);
// The message of `s` has arrived at `r`, who goes on with it, as does `s` with its next phase. `apparent`: in whose
// name it was sent.
void arrived(Thread& s, Thread& r, Thread* apparent);
// Who waits for a message from one thread alone, which does not exist any more, gets error 2, as if the wait began now.
// Those who were not started, interrupts and threads without a quantum wait on: what they wait for can be changed.
void end_vain_wait(Thread& t);
// Its own IPC ends, but for the wait for its start.
void end_activity(Thread& t);

}  // namespace ipc
