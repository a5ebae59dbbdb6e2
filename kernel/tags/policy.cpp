// SPDX-License-Identifier: BSD-2-Clause
#include "tags/policy.hpp"

#include "core/arch.hpp"
#include "tags/slots.hpp"

namespace tags {

Rules rules;

namespace {

constexpr Word most_bytes = slot_max_mb << 20;
// Spaces that one tick of the clock looks at; how many the search for a victim looks at.
constexpr Word looks = 4, candidates = 32;
// Switches between two looks from which on a tag is worth the work of giving it.
constexpr Word worthwhile = 16;
// A spread from which on a space counts as everybody's partner (of 16), and how long one has to be astray to be moved.
constexpr Word everybodys = 11, patience = 4;

Space* hand;            // where look() goes on; nullptr: at the first
Space* victim_hand;     // where the search for a victim goes on

Space& advance(Space*& at) {
    Space* s = at ? at : spaces::all().front();
    at = spaces::all().after(*s);
    return *s;
}

bool tagged(const Space& s) { return arch::tag_limit(s); }
bool exclusive(const Space& s) { return tagged(s) && !s.leader; }
bool universal(const Space& s) { return s.tag.spread >= everybodys; }

Word members(const Space& leader) {
    Word n = 0;
    for (const Space* s = leader.group.front(); s; s = leader.group.after(*s)) ++n;
    return n;
}

// As far as a few of its threads tell.
bool asleep(const Space& space) {
    if (space.tag.gain) return false;
    Word asked = 0;
    for (const Thread* t = space.members.front(); t && ++asked <= candidates; t = space.members.after(*t))
        if (t->ready_link.queued() || t == arch::current_thread()) return false;
    return true;
}

// Whose exclusive tag, good for that many bytes, `space` may have: somebody's who sleeps, or to whom it is worth less
// than half of what it is to `space`. One that is everybody's partner gives way to nobody.
Space* victim(const Space& space, Word bytes) {
    Space* best = nullptr;
    for (Word i = 0; i < candidates; ++i) {
        Space& s = advance(victim_hand);
        if (&s == &space || s.tag.pinned || s.leader || arch::tag_limit(s) < bytes) continue;
        if (asleep(s)) return &s;
        if (!universal(s) && s.tag.gain < space.tag.gain / 2 && (!best || s.tag.gain < best->tag.gain)) best = &s;
    }
    return best;
}

// Somebody whose exclusive tag can as well be one that is bound to a host, so that each host can use its place.
Space* settler(Word bytes) {
    for (Word i = 0; i < candidates; ++i) {
        Space& s = advance(victim_hand);
        if (!s.tag.pinned && !s.leader && arch::tag_limit(s) >= bytes && !universal(s)) return &s;
    }
    return nullptr;
}

Space* partner_of(const Space& space) {
    // Not threads::find(): that takes a waiting thread out of the fast path's way.
    ThreadId id = space.tag.partner;
    const Thread& t = arch::thread_at(id.number());
    return id.is_global() && t.id == id && t.space != &space ? t.space : nullptr;
}

// Whose host `space` had best share: its partner's, or, if that one is at home in all hosts, its partner's partner's.
Space* chosen_leader(const Space& space) {
    Space* p = partner_of(space);
    if (p && exclusive(*p)) p = partner_of(*p);
    if (!p || p == &space || exclusive(*p)) return nullptr;
    Space* leader = p->leader ? p->leader : p;
    return leader == &space ? nullptr : leader;
}

bool take_from(Space* loser, Space& space, Word bytes, Space* leader) {
    if (!loser) return false;
    arch::take_tag(*loser);
    return arch::give_tag(space, bytes, leader);
}

bool join(Space& space, Word bytes, Space* leader) {
    return arch::give_tag(space, bytes, leader) || take_from(settler(bytes), space, bytes, leader);
}

// A space without a tag that is switched to a lot.
void seek(Space& space) {
    Word bytes = needed(space);
    if (bytes > most_bytes) return;
    Space* leader = rules.groups ? chosen_leader(space) : nullptr;
    if (!space.group.empty()) {
        // It gives its own group up for a larger one.
        if (!leader || members(*leader) < members(space)) return;
        while (Space* s = space.group.front()) arch::take_tag(*s);
    }
    if (arch::give_tag(space, bytes, nullptr)) return;
    if (leader && !universal(space) && join(space, bytes, leader)) return;
    take_from(victim(space, bytes), space, bytes, nullptr);
}

// One that is bound to a host: is it the right one?
void settle(Space& space) {
    Space* leader = chosen_leader(space);
    if (!leader || leader == space.leader) {
        space.tag.astray = 0;
        return;
    }
    if (++space.tag.astray < patience) return;
    space.tag.astray = 0;
    Word bytes = arch::tag_limit(space);
    if (universal(space) && (arch::give_tag(space, bytes, nullptr) || take_from(victim(space, bytes), space, bytes, nullptr))) return;
    join(space, bytes, leader);
}

void note(Space& space, arch::Switches s) {
    space.tag.gain = space.tag.gain / 2 + s.count;
    if (!s.count) return;
    Space* before = partner_of(space);
    space.tag.partner = s.partner;
    constexpr Word weight = 4;
    space.tag.spread += (partner_of(space) != before ? weight : 0) - space.tag.spread / weight;
}

}  // namespace

Word needed(const Space& space) {
    VAddr end = paging::extent(space);
    // The interface page is there; UTCBs come one page after the other.
    if (space.initialised() && space.utcb_area.last() >= end) end = space.utcb_area.last() + 1;
    return end;
}

void begin(Space& space) {
    if (rules.automatic && !space.tag.pinned && !tagged(space)) arch::give_tag(space, needed(space), nullptr);
}

void outgrow(Space& space, VAddr address) {
    Word limit = arch::tag_limit(space), bytes = address < most_bytes ? address + 1 : ~Word{0};
    if (address == somewhere) bytes = limit + 1;
    if (rules.automatic && !space.tag.pinned && bytes <= most_bytes && arch::give_tag(space, bytes, space.leader)) return;
    arch::take_tag(space);
}

void look() {
    if (!rules.automatic) return;
    for (Word i = 0; i < looks; ++i) {
        Space& space = advance(hand);
        note(space, arch::take_switches(space));
        if (space.tag.pinned || !space.initialised()) continue;
        if (!tagged(space) && space.tag.gain >= worthwhile) seek(space);
        if (space.leader && rules.groups) settle(space);
    }
}

void forget(Space& space) {
    if (hand == &space) hand = spaces::all().after(space);
    if (victim_hand == &space) victim_hand = spaces::all().after(space);
}

}  // namespace tags
