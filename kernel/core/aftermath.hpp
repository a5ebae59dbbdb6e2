// SPDX-License-Identifier: BSD-2-Clause
// What is left to do when threads, identities, spaces or redirections have ended: others wait in vain, and there is
// memory to free. Their number is the users' choice, so the call that ended them does it in parts, with preemption
// points, before it returns.
#pragma once

#include "core/thread.hpp"

namespace aftermath {

// The caller of a system call frees what was destroyed before it returns.
void bury(Thread& caller);
// It visits all threads as well: those that wait for somebody who is gone are told, and those whose space has got or
// lost a redirector leave the fast path or may use it.
void visit_all(Thread& caller);
// It tells those who wait to send to `t` by an id that it no longer has.
void tell_senders(Thread& caller, const Thread& t);
// What `gone` had to do falls to the one who deletes it, and so visits all.
void inherit(Thread& caller, const Thread& gone);
// Goes on with all of it.
void carry_on(Thread& caller);

}  // namespace aftermath
