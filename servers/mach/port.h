// SPDX-License-Identifier: BSD-2-Clause
// Ports, what waits at them, and the names by which a task knows them.
#pragma once

#include "memory.h"

#include <l4/schedule.h>

namespace mach {

struct Task;

/// A message on its way: rights are ports, memory is regions without an address.
struct Packet {
    Packet *next = nullptr;
    Port *to = nullptr, *reply = nullptr;
    Word id = 0;
    Word word_count = 0, right_count = 0, memory_count = 0;
    Word words[Message::most_words] = {};
    struct {
        Port *port;
        bool receive;
    } rights[Message::most_rights] = {};
    Region memory[Message::most_memory] = {};
};

/// A port, or a port set, whose members name it.
struct Port {
    static constexpr Word most_waiting = 5; ///< messages, as Mach's

    Word references = 0; ///< names and messages; not used with the last one
    bool is_set = false, dead = false;
    Task *receiver = nullptr; ///< who has the receive right; nullptr: it is in a message, or the server's
    Task *task = nullptr;     ///< a task's own port
    const Packet *carrier = nullptr; ///< the message that the receive right is in
    Port *set = nullptr;
    Packet *first = nullptr, *last = nullptr;
    Word waiting = 0;
};

struct Entry {
    Port *port = nullptr;
    Word rights = 0;
    Port *notify = nullptr; ///< gets dead_name_notification
};

/// A task, or a program of init's that has joined.
struct Task {
    static constexpr Word most_names = 32, most_regions = 16;
    enum class State { running, receives, sends, faults };

    L4_ThreadId_t thread = {};
    Word program = 0; ///< that program and its start, as init knows them; 0: a task
    Word window = 0;  ///< of a program: where the server has its memory, that from `low` to `high`
    Word low = 0x00600000, high = 0x00C00000; ///< where new regions are put
    Port *self = nullptr; ///< its own port
    Entry names[most_names] = {}; ///< a name is a place here
    Word named = 1;               ///< a bit for each that is used, and for 0, which is none
    static_assert(most_names == 8 * sizeof named);
    Region regions[most_regions] = {};

    State state = State::running;
    Port *at = nullptr;       ///< where it receives
    bool calls = false;       ///< by Call
    Packet *unsent = nullptr; ///< that it waits to send
    Word address = 0;         ///< of its fault
    bool write = false;
    L4_Clock_t until = {};    ///< when it has waited enough for a pager; 0: it has not asked one yet

    /// Where the server has what a program has at `at`.
    Word shown(Word at) const { return window + (at - low); }
};

} // namespace mach
