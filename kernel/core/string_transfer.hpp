// SPDX-License-Identifier: BSD-2-Clause
// Transfer of a message's strings (manual 5.4 to 5.6; docs/string-transfer.md): it takes time, meets page faults and
// can be interrupted, timed out, aborted. Its whole state is a Transfer, from which either thread continues. Map items
// of many pages take time, too (docs/preemption.md), and make a message a transfer, whatever the receiver's role: also
// that of a thread with a page fault, which itself may be in a transfer of strings.
#pragma once

#include "core/string_item.hpp"
#include "core/transfer.hpp"

struct Transfer {
    Thread* sender;
    Thread* receiver;
    Arrival arrival;
    ThreadId apparent;              // the apparent sender
    TypedItems items;
    TypedItems::Next next;          // string: in the string at `items`; more: in the map item there
    Role role;                      // the receiver's: user, page_fault or port_fault
    Transfer* outer;                // the receiver's own transfer, in which it had the page fault
    StringCursor source;            // position in the string
    StringCursor target;            // position in its buffers
    Word bytes;                     // moved so far, of all strings
    // The sender's next phase: page faults meanwhile are IPCs of its own.
    ThreadId awaited;
    Word receive_timeout;
    bool receive_follows;

    bool faulted;                   // the deadline is set: it counts from the first page fault
    Microseconds deadline;
};

namespace strings {

// Starts a transfer that continues the message of `s` at `items` with `next`. False if there is no need for one, if `r`
// has no buffer for the string, or when kernel memory is exhausted.
bool begin(Thread& s, Thread& r, Thread& apparent, const Arrival& arrival, const TypedItems& items,
    TypedItems::Next next);
// Continues the transfer of the running thread, until it ends or waits for a pager.
void resume(Thread& runner);

// Whether a thread in a transfer is its sender.
bool sends(const Thread& t);
// A thread in a transfer waits for its pager: its timeout is the transfer's deadline.
void start_timeout(Thread& t);
// Its page fault is not resolved in time, or it has no pager: error 5 for itself, 6 for its partner.
void fault_unresolved(Thread& t);
// Ends the transfer of a thread: error 7 for both.
void abort(Thread& t);

}  // namespace strings
