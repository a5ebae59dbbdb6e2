// SPDX-License-Identifier: BSD-2-Clause
// A port whose slots are places of a certain length: each is one space's in all hosts, or, if it may be, one space's in
// each host. A short place may be part of a longer one. What slots/port.hpp asks, and nothing else.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/arch.hpp"
#include "slots/groups.hpp"
#include "slots/policy.hpp"

namespace tag_port {

struct Place {
    Word bytes;
    bool bindable;
    std::size_t part_of = ~std::size_t{0};  // the number of the longer one; it is free only if its parts are
};
// A space's tag; `leader` nullptr: in all hosts.
struct Held {
    std::size_t place;
    Space* leader;
    bool operator==(const Held&) const = default;
};
// Spaces that got or lost a tag, in order.
struct Event {
    Space* space;
    bool given;
    Held held;
};

// A space with one thread.
struct Actor {
    Space space{};
    Thread thread{};
    Word extent = 0, switches = 0;
    ThreadId left{};  // the thread that was left for it last

    Actor(Word number, Word bytes);
    ~Actor();
    bool ready() const { return thread.ready_link.queued(); }
    void set_ready(bool wanted);
};

struct Port {
    std::vector<Place> places;
    std::map<const Space*, Held> held;
    std::map<Word, Thread*> table;
    std::vector<Event> events;
    Thread* current = nullptr;
    void (*looked_at)(Space&) = nullptr;  // called when the rules ask for a space's switches

    const Held* of(const Space& space) const;
    // The first place that is free for a tag of that kind; places.size() if there is none.
    std::size_t free_place(Word bytes, const Space* leader) const;
    // One thread is left for another.
    void switch_to(Actor& from, Actor& to);
};
extern Port port;

// The space's actor.
Actor& actor(const Space& space);

}  // namespace tag_port
