// SPDX-License-Identifier: BSD-2-Clause
#include "slots/policy.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "slots/area.hpp"
#include "slots/groups.hpp"

namespace slots {

Rules rules;

namespace {

constexpr Word most_bytes = slot_max_mb << 20;
// How many spaces a tick of the clock looks at; and how many a search for a victim does, or threads of one of them.
constexpr Word looks_per_tick = 4, most_candidates = 32;
// A space's gain loses one part in `decay` at each look. From `least_gain` on a slot is worth the work of giving it.
constexpr Word decay = 8, least_gain = 64;
// A spread (of 256), or a number of partners, from which on a space is a hub. After `period` notes `met` begins anew.
// Hysteresis: at so many looks in a row a bound space has to prefer another host before it is moved there.
constexpr Word hub_spread = 176, hub_partners = 9, period = 256, hysteresis = 4;
// Looks that a space skips after it has sought a slot in vain.
constexpr Word backoff = 8;
// How many members of a group the rules look at. A leader with more keeps its group.
constexpr Word most_members = 128;

Space* hand;            // where look() goes on; nullptr: at the first
Space* dissolving;      // a leader that gives up its group; nullptr: none

Space& next_space() {
    Space* s = hand ? hand : spaces::all().front();
    hand = spaces::all().after(*s);
    return *s;
}

bool is_small(const Space& s) { return slot_limit(s); }
bool is_exclusive(const Space& s) { return is_small(s) && !of(s).leader; }

Word partners(const State& state) {
    Word n = 0;
    for (Word met = state.met | state.met_before; met; met &= met - 1) ++n;
    return n;
}

// A hub is a space with many partners: they change from note to note; or, where one stays for some time, there are more
// of them than a group has members.
[[gnu::noinline]] bool is_hub(const Space& s) { return of(s).spread >= hub_spread || partners(of(s)) >= hub_partners; }

// One of 32 bits for a space, by its first thread's number (Knuth's multiplicative hashing); 0 if it has no thread.
Word hash_bit(const Space& space) {
    const Thread* t = space.members.front();
    return t ? 1u << (t->id.number() * 2654435769u >> 27) : 0;
}

// Counts the partners that `space` has among a leader and the first of its members. Two spaces may have the same bit.
Word partners_among(const Space& space, const Space& leader) {
    Word met = of(space).met | of(space).met_before, n = &leader != &space && met & hash_bit(leader);
    Word looked = 0;
    for (const Space* s = of(leader).group.front(); s && looked++ < most_members; s = of(leader).group.after(*s))
        n += (met & hash_bit(*s)) != 0;
    return n;
}

// A space sleeps if nobody has switched to it of late, and none of its first threads is ready.
bool asleep(const Space& space) {
    if (of(space).gain) return false;
    Word asked = 0;
    for (const Thread* t = space.members.front(); t && ++asked <= most_candidates; t = space.members.after(*t))
        if (t->ready_link.queued() || t == arch::current_thread()) return false;
    return true;
}

// Finds the victim that loses an exclusive slot of `bytes` or more to `space`: a space that sleeps, or one that gains
// less than a quarter of what `space` does. A hub that is awake is never a victim, and for a hub every other space may
// be one.
Space* exclusive_victim(const Space& space, Word bytes) {
    Space* best = nullptr;
    for (Word i = 0; i < most_candidates; ++i) {
        Space* s = next_of(exclusives);
        if (!s) break;
        if (s == &space || of(*s).pinned || slot_limit(*s) < bytes) continue;
        if (asleep(*s)) return s;
        if (is_hub(*s) || (!is_hub(space) && of(*s).gain >= of(space).gain / 4)) continue;
        if (!best || of(*s).gain < of(*best).gain) best = s;
    }
    return best;
}

// Finds the victim whose slot makes room for a bound one: among a group's members a space that sleeps; among the
// exclusive ones a space that is no hub, whose slot bound ones can use in every host.
Space* bound_victim(Members& list, Word bytes) {
    for (Word i = 0; i < most_candidates; ++i) {
        Space* s = next_of(list);
        if (!s) break;
        if (of(*s).pinned || slot_limit(*s) < bytes) continue;
        if (&list == &exclusives ? bindable(*s) && !is_hub(*s) : asleep(*s)) return s;
    }
    return nullptr;
}

// The space that a thread belongs to; nullptr if the thread is gone, or the space is `space` itself.
Space* space_of(ThreadId id, const Space& space) {
    // Not threads::find(): that takes a waiting thread out of the fast path's way.
    const Thread& t = arch::thread_at(id.number());
    return id.is_global() && t.id == id && t.space != &space ? t.space : nullptr;
}

// The leader whose host `space` should share: its last partner that has no exclusive slot, or that partner's leader.
Space* preferred_leader(const Space& space) {
    for (ThreadId id : of(space).partners) {
        Space* p = space_of(id, space);
        if (!p || is_exclusive(*p)) continue;
        Space* leader = of(*p).leader ? of(*p).leader : p;
        return leader == dissolving ? nullptr : leader;
    }
    return nullptr;
}

// Takes the victim's slot, if there is a victim, and gives `space` one.
bool take_from(Space* victim, Space& space, Word bytes, Space* leader) {
    if (!victim) return false;
    check(is_small(*victim) && !of(*victim).pinned);
    take_slot(*victim);
    check(!is_small(*victim) && !of(*victim).leader);
    return give_slot(space, bytes, leader);
}

// Gives `space` a slot in the leader's host: a free one, or that of a victim.
bool get_bound(Space& space, Word bytes, Space* leader) {
    check(leader && !is_small(*leader) && !of(*leader).leader);
    of(space).misplaced = 0;
    return give_slot(space, bytes, leader) || take_from(bound_victim(of(*leader).group, bytes), space, bytes, leader) ||
           take_from(bound_victim(exclusives, bytes), space, bytes, leader);
}

// Gives `space` an exclusive slot: a free one, or that of a victim.
bool get_exclusive(Space& space, Word bytes) {
    return give_slot(space, bytes, nullptr) || take_from(exclusive_victim(space, bytes), space, bytes, nullptr);
}

// Binds a partner of `space` that has an exclusive slot, but is no hub, to the host of `space`. Spaces that talk to
// that partner find a leader then, where they knew none before.
void bind_partner(Space& space) {
    for (ThreadId id : of(space).partners) {
        Space* p = space_of(id, space);
        if (!p || !is_exclusive(*p) || of(*p).pinned || is_hub(*p)) continue;
        Word bytes = slot_limit(*p);
        of(*p).misplaced = 0;
        // The slot that it gets there may be the one that it has had.
        if (!take_from(p, *p, bytes, &space)) give_slot(*p, bytes, nullptr);
        return;
    }
}

bool may_dissolve(const Space& leader) {
    Word looked = 0;
    for (const Space* s = of(leader).group.front(); s; s = of(leader).group.after(*s))
        if (of(*s).pinned || ++looked > most_members) return false;
    return true;
}

bool seek(Space& space);

// Takes the slots of the members of the group that is given up: a few now, the others at the next ticks. Then its
// leader seeks a slot.
void dissolve() {
    constexpr Word few = 8;
    for (Word i = 0; dissolving; ++i) {
        Space &leader = *dissolving, *s = of(leader).group.front();
        if (s && !of(*s).pinned && i == few) return;
        if (s && !of(*s).pinned) {
            take_slot(*s);
            continue;
        }
        dissolving = nullptr;
        if (!s) seek(leader);
    }
}

// Seeks a slot for a large space. True if it has one now, or will seek again when its group is gone.
bool seek(Space& space) {
    Word bytes = needed(space);
    if (bytes > most_bytes) return false;
    Space* leader = rules.groups && !is_hub(space) ? preferred_leader(space) : nullptr;
    if (of(space).group.empty()) {
        if (give_slot(space, bytes, nullptr)) return true;
        if ((leader && get_bound(space, bytes, leader)) || get_exclusive(space, bytes)) return true;
    } else if (!dissolving && leader != &space && may_dissolve(space) &&
               (leader ? partners_among(space, *leader) >= partners_among(space, space)
                       : is_hub(space) && exclusive_victim(space, bytes))) {
        // It gives its own group up for one with as many partners, or, a hub, for an exclusive slot.
        dissolving = &space;
        dissolve();
    }
    if (!leader && rules.groups && !is_hub(space)) bind_partner(space);
    return is_small(space) || dissolving == &space;
}

// Seeks a slot, but not at the looks that follow a search in vain.
void seek_with_backoff(Space& space) {
    if (of(space).skips) --of(space).skips;
    else if (!seek(space)) of(space).skips = backoff;
}

// Looks at a bound space: it is moved to the host of its partners when it has preferred that for some looks.
void review(Space& space) {
    check(is_small(space) && of(space).leader && !is_small(*of(space).leader));
    Word bytes = slot_limit(space);
    if (is_hub(space)) {
        // Most of its partners are in other hosts: to be large is cheaper for it.
        if (!get_exclusive(space, bytes)) take_slot(space);
        return;
    }
    Space* leader = preferred_leader(space);
    if (!leader || leader == of(space).leader) {
        of(space).misplaced = 0;
        return;
    }
    if (++of(space).misplaced >= hysteresis && !get_bound(space, bytes, leader)) take_slot(space);
}

// Notes that `space` was switched to from that thread.
void note_partner(Space& space, ThreadId partner) {
    constexpr Word weight = 16;
    ThreadId(&partners)[2] = of(space).partners;
    Space* now = space_of(partner, space);
    if (!now) return;
    bool latest = now == space_of(partners[0], space), known = latest || now == space_of(partners[1], space);
    if (!latest) partners[1] = partners[0];
    partners[0] = partner;
    of(space).spread += (known ? 0 : weight) - of(space).spread / weight;
    check(of(space).spread <= 256);
    if (++of(space).notes % period == 0) of(space).met_before = of(space).met, of(space).met = 0;
    of(space).met |= hash_bit(*now);
}

// Notes partners for the space that runs, for the one that it was switched to from, and for the one before that.
void note_running() {
    constexpr Word back = 3;
    Thread* current = arch::current_thread();
    Space* space = current ? current->space : nullptr;
    for (Word i = 0; space && i < back; ++i) {
        ThreadId partner = slots::partner(*space);
        note_partner(*space, partner);
        space = space_of(partner, *space);
        if (current->space == space) break;     // a second note of the same partner would look as if it had stayed
    }
}

}  // namespace

Word needed(const Space& space) {
    VAddr end = paging::extent(space);
    // The interface page is there; UTCBs come one page after the other.
    if (space.initialised() && space.utcb_area.last() >= end) end = space.utcb_area.last() + 1;
    return end;
}

namespace {

// Exchanges a space's slot for one of that many bytes; it becomes large if it cannot have that.
void refit(Space& space, Word bytes) {
    bool may = rules.automatic && !of(space).pinned && bytes <= most_bytes;
    if (!may || !give_slot(space, bytes, of(space).leader)) take_slot(space);
}

}  // namespace

void begin(Space& space) {
    if (!rules.automatic || of(space).pinned) return;
    Word bytes = needed(space), limit = slot_limit(space);
    if (!limit) give_slot(space, bytes, nullptr);
    else if (limit < bytes) refit(space, bytes);
}

void outgrow(Space& space, VAddr address) { refit(space, address < most_bytes ? address + 1 : ~Word{0}); }

void outgrow(Space& space) { refit(space, slot_limit(space) + 1); }

void look() {
    if (!rules.automatic) return;
    note_running();
    dissolve();
    for (Word i = 0; i < looks_per_tick; ++i) {
        Space& space = next_space();
        Word switches = take_switches(space);
        of(space).gain += switches - (of(space).gain + decay - 1) / decay;
        if (switches) note_partner(space, slots::partner(space));
        if (of(space).pinned || !space.initialised()) continue;
        if (of(space).leader && rules.groups) review(space);
        else if (!is_small(space) && of(space).gain >= least_gain && !dissolving) seek_with_backoff(space);
    }
}

void forget(Space& space) {
    if (hand == &space) hand = spaces::all().after(space);
    if (dissolving == &space) dissolving = nullptr;
}

}  // namespace slots
