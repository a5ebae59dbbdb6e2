// SPDX-License-Identifier: BSD-2-Clause
// Thread-local storage through FS or GS, for programs of other systems (sheet 14.1): one descriptor, USER_TLS, is the
// running thread's own. Threads that have none find it empty.
//
// A program takes offsets on both sides of its segment's base, but a segment that reaches both sides reaches
// everything, also the small spaces of the page directory. So it reaches one side at a time, up to the end of the
// thread's space on that side, and is turned round when an instruction wants the other.
#pragma once

#include "core/thread.hpp"

namespace tls {

// The system call TlsControl. Result: 1, or 0 and an error.
Word control(Thread& caller, ThreadId dest, VAddr base);
// `t` is about to run: its descriptor, and the selectors for FS and GS.
void enter(Thread& t);
// `t` has run: saves FS and GS, which the kernel itself does not change.
void keep_selectors(Thread& t);
// The selector for GS where the segment is not in it: the UTCB's; none where a thread of a controlled space has the
// segment in FS alone, so that its handler hears of an access through GS and can let two segments take turns.
Word gs_without(const Thread& t);
// An access through the segment was past its limit, and is not one that the gate has turned it for (turn_segment): it
// is the same instruction's again, or the segment is not in GS alone. False if it was turned for the very same access
// before.
bool turn(Thread& t);

}  // namespace tls
