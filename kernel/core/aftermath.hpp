// SPDX-License-Identifier: BSD-2-Clause
// The rest of a call that has ended threads, identities, spaces or redirections: other threads wait for them in vain,
// and memory has to be freed. Users choose how many, so the call does this in parts, with preemption points, before it
// returns.
#pragma once

#include "core/thread.hpp"

namespace aftermath {

// The caller of the system call frees what was destroyed before it returns.
void bury(Thread& caller);
// It also visits all threads: those that wait for a thread that is gone get an error, and those whose space has got or
// lost a redirector leave the fast path or may use it again.
void visit_all(Thread& caller);
// It sends an error to threads that wait to send to `t` by an id that it no longer has.
void tell_senders(Thread& caller, const Thread& t);
// The caller, which deletes `gone`, takes over its pending aftermath, by visiting all threads.
void inherit(Thread& caller, const Thread& gone);
// The next part of that.
void resume(Thread& caller);

}  // namespace aftermath
