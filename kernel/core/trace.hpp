// SPDX-License-Identifier: BSD-2-Clause
// The kernel's recent events: fixed-size records in a ring, for tools that read the machine's memory (`./cobnut
// trace`, the debugger; docs/debugging.md). The boot option trace= sets the ring's size. Without it there is no ring:
// an event then costs one test, and the IPC fast path nothing, as it records no events and is not used while there is
// a ring.
#pragma once

#include "core/x2.hpp"

struct Space;

namespace trace {

// The words of each event's record follow it here; its thread is the running one unless another is named.
enum class Event : Word {
    none,               // a record that was never written
    // thread: the one that runs now; its space, slot base (0: large), ip, the space whose directory is in force
    switched,
    idle,               // no thread runs
    message,            // thread: the sender; receiver, tag, the sender's role, the receiver's
    // thread: the one that gets the error; error code (manual 5.6), role, and the partner if a string was cut off
    ipc_failed,
    fault,              // role, the first three words of the message that the kernel sends in the thread's name
    interrupt,          // line
    thread_created,     // thread: the new one; its space
    thread_deleted,     // likewise
    space_deleted,      // space
    entry_copied,       // space, address, host: a directory entry of a small space
    slot_taken,         // space, base, size
    slot_released,      // likewise
    promoted,           // space: it gives up its slot because it needs more
};

struct Record {
    std::uint64_t time;                 // arch::ticks()
    Event event;
    Word thread;                        // global id
    Word words[4];
};
static_assert(sizeof(Record) == 32);

struct Ring {
    Record* records;                    // nullptr: no tracing
    Record* end;
    Record* next;                       // the one to be written
    Word wraps;                         // how often `next` came to the end
    Word ticks_per_ms;
};
extern "C" Ring trace_ring;

// Makes the ring, of `kb` rounded up to pages, out of kernel memory of which nothing has been given away yet.
void initialise(Word kb);

[[gnu::cold]] void record(Event event, Word thread, Word a, Word b, Word c, Word d);

// `thread` nil: the running one.
inline void event(Event event, ThreadId thread, Word a = 0, Word b = 0, Word c = 0, Word d = 0) {
    if (trace_ring.records) [[unlikely]]
        record(event, thread.raw, a, b, c, d);
}

// How records name a space: by its control block's address.
inline Word name(const Space* space) { return static_cast<Word>(reinterpret_cast<std::uintptr_t>(space)); }

}  // namespace trace
