// SPDX-License-Identifier: BSD-2-Clause
// Strings of a message on their way (manual 5.4 to 5.6; docs/string-transfer.md): they take time, meet page faults and
// can be interrupted, timed out, aborted. All there is to know stands in a Transfer, from which either thread goes on.
// Map items of many pages take time, too (docs/preemption.md): they make a message a transfer whoever it is for, also
// the kernel in the name of a thread with a page fault, which itself may be in a transfer of strings.
#pragma once

#include "core/string_item.hpp"
#include "core/transfer.hpp"

struct Transfer {
    Thread* sender;
    Thread* receiver;
    Arrival arrival;
    ThreadId apparent;              // in whose name it is sent
    TypedItems items;
    TypedItems::Next next;          // string: the one at `items` is under way; more: so is the map item there
    Role role;                      // the receiver's: user, page_fault or port_fault
    Transfer* outer;                // the receiver's own, in which it had the page fault
    StringCursor source;            // the string under way
    StringCursor target;            // its buffer
    Word bytes;                     // moved so far, of all strings
    // The sender's next phase: page faults meanwhile are IPCs of its own.
    ThreadId awaited;
    Word receive_timeout;
    bool receive_follows;

    bool faulted;                   // from then on time counts
    Microseconds deadline;
};

namespace strings {

// The message of `s` goes on with `next` at `items`: starts a transfer. False if it does not go on, if `r` has no
// buffer for the string, or when kernel memory is exhausted.
bool begin(Thread& s, Thread& r, Thread& apparent, const Arrival& arrival, const TypedItems& items,
    TypedItems::Next next);
// Goes on with the transfer of the running thread, until it is over or a pager has been asked.
void carry_on(Thread& runner);

// Whether a thread in a transfer is its sender.
bool sends(const Thread& t);
// A thread in a transfer waits for its pager: at most until the transfer's deadline.
void start_timeout(Thread& t);
// It had a page fault that nobody resolves in time, or has no pager at all: error 5 for itself, 6 for its partner.
void fault_unresolved(Thread& t);
// Ends the transfer of a thread: error 7 for both.
void abort(Thread& t);

}  // namespace strings
