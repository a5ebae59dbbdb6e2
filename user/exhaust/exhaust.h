// SPDX-License-Identifier: BSD-2-Clause
// exhaust: a kernel whose memory runs out. See main.cc.
#pragma once

#include <cobnut/account.h>
#include <cobnut/audit.h>
#include <cobnut/root.h>
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/space.h>
#include <l4/thread.h>

namespace exhaust {

using Word = L4_Word_t;
using cobnut::fail;

constexpr Word no_memory = 8;                              // ErrorCode of system calls (manual 2.4)
constexpr Word overflow_sent = 4 << 1, overflow_received = 4 << 1 | 1; // of an IPC (manual 5.6)

// Spaces look alike: interface page and UTCBs share a page table, except where that is what is tried.
constexpr Word kip_address = 0x007FF000, utcb_address = 0x00400000, utcb_size = 512, page_size = 4096;
constexpr int utcb_log2 = 16;

/// ThreadControl and SpaceControl by number: 0, or the error code.
L4_ThreadId_t thread(Word number);
Word create(Word number, Word space, bool active = false, Word utcb = utcb_address);
Word activate(Word number, Word space);
Word set_areas(Word number, Word utcb = utcb_address);
void remove(Word number);

/// No page of the image is missing afterwards: a page fault of the root thread's own would be sigma0's to answer.
void touch_image();

// ---------------------------------------------------------------------------------------------------- the partner
// A thread in a space of its own, which takes what it is sent: pages, ports, strings.

void start_partner();
void end_partner();
/// Calls it with the message that is loaded: 0, or the error code of the call.
Word call_partner();
/// The error code of its last receive phase that failed, and no more.
Word error_of_partner();
/// It uses the coprocessor for the first time. Returns 0, or the number of the exception that this is, which waits.
Word use_coprocessor();
/// The answer to that exception: it tries again. Returns 0, or the number of the exception that this is.
Word try_again();

/// It has a page fault, which waits for its answer.
void let_fault();
/// Answers with a mapping: 0 when the partner has gone on, or the error code.
Word answer_fault();
/// It does not fault again meanwhile.
bool still_waits();

Word map_page(Word to);
Word map_port(Word port);
Word send_string();
void unmap_page();
void unmap_ports();

// -------------------------------------------------------------------------------------------------- the starvation

/// Takes all of the kernel's memory but so many pages, and every free object of its pools of threads, mappings and
/// ports.
void starve(Word pages);
/// Gives it all back.
void feed();
/// Every number up to here is for others to use.
constexpr Word numbers_for_others = 16;

} // namespace exhaust
