// SPDX-License-Identifier: BSD-2-Clause
// share: spaces that take all the kernel memory that they get, beside one that works. See main.cc.
#pragma once

#include <cobnut/account.h>
#include <cobnut/audit.h>
#include <cobnut/root.h>
#include <l4/ipc.h>
#include <l4/space.h>
#include <l4/thread.h>

namespace share {

using Word = L4_Word_t;
using cobnut::fail;

constexpr Word page_size = 4096, overflow_sent = 4 << 1; // of an IPC (manual 5.6)
constexpr Word most_threads = 32;
#ifdef __arm__
constexpr Word table_bytes = 1u << 20;
#else
constexpr Word table_bytes = 4u << 20;
#endif

cobnut::Audit books();
extern Word first_number;
L4_ThreadId_t thread(Word number);

/// A space with its first thread, which runs nothing yet; a further thread of it. 0, or the error code.
Word create_space(Word number, Word control = 0);
Word create_thread(Word number, Word space);
/// One that is not active, and has no UTCB; one that goes to another space.
Word create_inactive(Word number, Word space);
Word migrate(Word number, Word space);
void remove(Word number);

/// No page of the image is missing afterwards: a page fault of the root thread's own would be sigma0's to answer.
void touch_image();

/// Starts a thread.
void start(Word number, void (*main)());
Word number_of_myself();

/// Answers the page faults of a thread that has been started, until it says that it is done: 0; or until an answer
/// fails: the error code. The thread waits then, and another call tries again.
Word serve(Word number);
/// For threads: says so, and waits to be told to go on.
void done();
/// Reads a word there.
void touch(Word address);

void try_limits();

} // namespace share
