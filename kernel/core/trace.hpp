// SPDX-License-Identifier: BSD-2-Clause
// What the kernel did lately: records of one size in a ring, for whoever reads the machine's memory (`./cobnut trace`,
// the debugger; docs/debugging.md). The boot option trace= gives the ring its size. Without it there is none: an event
// then costs a test, and the IPC fast path nothing, for it records no events and is not used while there is a ring.
#pragma once

#include "core/x2.hpp"

struct Space;

namespace trace {

// What the words of a record hold follows each event; its thread is the running one where nothing else is said.
enum class Event : Word {
    none,               // a record that was never written
    // thread: who runs now; its space, slot base (0: large), ip, the space whose directory is in force
    switched,
    idle,               // nobody runs
    message,            // thread: the sender; receiver, tag, the sender's role, the receiver's
    // thread: who is told; error code (manual 5.6), role, and who else is told if a string broke off
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

// How records name a space: where the kernel keeps it.
inline Word name(const Space* space) { return static_cast<Word>(reinterpret_cast<std::uintptr_t>(space)); }

}  // namespace trace
