// SPDX-License-Identifier: BSD-2-Clause
#include "tag_port.hpp"

namespace tag_port {

Port port;

namespace {
List<Thread, &Thread::ready_link> ready;
}  // namespace

Actor::Actor(Word number, Word bytes) : extent(bytes) {
    space.redirector = ThreadId::any();
    space.utcb_area = Fpage::memory(0, page_log2);
    thread.id = ThreadId::global(number, 1);
    thread.space = &space;
    space.members.push_back(thread);
    spaces::all.push_back(space);
    port.table[number] = &thread;
}

Actor::~Actor() {
    while (!slots::retire(space)) {}
    set_ready(false);
    if (port.current == &thread) port.current = nullptr;
    port.table.erase(thread.id.number());
    spaces::all.remove(space);
}

void Actor::set_ready(bool wanted) {
    if (wanted == ready()) return;
    wanted ? tag_port::ready.push_back(thread) : tag_port::ready.remove(thread);
}

const Held* Port::of(const Space& space) const {
    auto i = held.find(&space);
    return i == held.end() ? nullptr : &i->second;
}

std::size_t Port::free_place(Word bytes, const Space* leader) const {
    auto free = [&](std::size_t place) {
        for (auto& [space, h] : held) {
            bool same = h.place == place || places[h.place].part_of == place || places[place].part_of == h.place;
            if (same && (!leader || !h.leader || h.leader == leader)) return false;
        }
        return true;
    };
    for (std::size_t p = 0; p < places.size(); ++p)
        if (places[p].bytes >= bytes && (!leader || places[p].bindable) && free(p)) return p;
    return places.size();
}

void Port::switch_to(Actor& from, Actor& to) {
    to.left = from.thread.id;
    ++to.switches;
    current = &to.thread;
}

Actor& actor(const Space& space) { return *reinterpret_cast<Actor*>(const_cast<Space*>(&space)); }

}  // namespace tag_port

using tag_port::port;

namespace spaces {
List<Space, &Space::all_link> all;
}  // namespace spaces

namespace paging {
VAddr extent(const Space& space) { return tag_port::actor(space).extent; }
}  // namespace paging

namespace arch {

Thread* current_thread() { return port.current; }
Thread& thread_at(Word number) {
    static Thread nobody{};
    auto i = port.table.find(number);
    return i == port.table.end() ? nobody : *i->second;
}

}  // namespace arch

namespace slots {

ThreadId partner(const Space& space) { return tag_port::actor(space).left; }
Word take_switches(Space& space) {
    Word n = tag_port::actor(space).switches;
    if (port.looked_at) port.looked_at(space);
    tag_port::actor(space).switches = 0;
    return n;
}
VAddr slot_limit(const Space& space) {
    auto* h = port.of(space);
    return h ? port.places[h->place].bytes : 0;
}
bool bindable(const Space& space) { return port.places[port.of(space)->place].bindable; }

bool give_slot(Space& space, Word bytes, Space* leader) {
    if (!bytes || !of(space).group.empty() || leader == &space || (leader && port.of(*leader))) return false;
    auto* h = port.of(space);
    if (h && h->leader == leader && port.places[h->place].bytes >= bytes) return true;
    std::size_t place = port.free_place(bytes, leader);
    if (place == port.places.size()) return false;
    take_slot(space);
    port.held[&space] = {place, leader};
    port.events.push_back({&space, true, {place, leader}});
    enter(space, leader);
    return true;
}

void take_slot(Space& space) {
    auto* h = port.of(space);
    if (!h) return;
    port.events.push_back({&space, false, *h});
    leave(space);
    port.held.erase(&space);
}

}  // namespace slots
