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
// Spaces that one tick of the clock looks at; how many of those with exclusive tags a search looks at.
constexpr Word looks = 4, candidates = 32;
// Over how many looks switches are added up, and from how many on a tag is worth the work of giving it.
constexpr Word memory = 8, worthwhile = 64;
// A spread (of 256), or a number of partners, from which on a space counts as everybody's partner; how many notes make up
// `met`; and how long one has to be astray to be moved.
constexpr Word everybodys = 176, many = 9, late = 256, patience = 4;
// Looks between two searches of a space that found no tag.
constexpr Word pause = 8;
// So many members of a group are looked at, at most; a leader with more keeps them.
constexpr Word members = 128;

Space* hand;            // where look() goes on; nullptr: at the first
Space* dissolving;      // a leader that gives up its group; nullptr: none

Space& advance() {
    Space* s = hand ? hand : spaces::all().front();
    hand = spaces::all().after(*s);
    return *s;
}

bool tagged(const Space& s) { return slot_limit(s); }
bool exclusive(const Space& s) { return tagged(s) && !of(s).leader; }

Word partners(const State& state) {
    Word n = 0;
    for (Word met = state.met | state.met_before; met; met &= met - 1) ++n;
    return n;
}

// Its partners change from note to note; or, where one stays for some time, there are more than a group has.
[[gnu::noinline]] bool universal(const Space& s) { return of(s).spread >= everybodys || partners(of(s)) >= many; }

// Of a space, by its first thread's number (Knuth's multiplicative hashing), one of 32 bits; none if its last thread is gone.
Word bit_of(const Space& space) {
    const Thread* t = space.members.front();
    return t ? 1u << (t->id.number() * 2654435769u >> 27) : 0;
}

// With how many in a leader's host `space` has had to do of late, as far as is looked.
Word kin(const Space& space, const Space& leader) {
    Word met = of(space).met | of(space).met_before, n = &leader != &space && met & bit_of(leader);
    Word looked = 0;
    for (const Space* s = of(leader).group.front(); s && looked++ < members; s = of(leader).group.after(*s))
        n += (met & bit_of(*s)) != 0;
    return n;
}

// As far as a few of its threads tell.
bool asleep(const Space& space) {
    if (of(space).gain) return false;
    Word asked = 0;
    for (const Thread* t = space.members.front(); t && ++asked <= candidates; t = space.members.after(*t))
        if (t->ready_link.queued() || t == arch::current_thread()) return false;
    return true;
}

// The space that loses its exclusive tag, good for that many bytes, to `space`: one that sleeps, or one that gains less
// than a quarter of what `space` does by it. Everybody's partner gives way to nobody, and others give way to it.
Space* victim(const Space& space, Word bytes) {
    Space* best = nullptr;
    for (Word i = 0; i < candidates; ++i) {
        Space* s = next_of(exclusives);
        if (!s) break;
        if (s == &space || of(*s).pinned || slot_limit(*s) < bytes) continue;
        if (asleep(*s)) return s;
        if (universal(*s) || (!universal(space) && of(*s).gain >= of(space).gain / 4)) continue;
        if (!best || of(*s).gain < of(*best).gain) best = s;
    }
    return best;
}

// A space that can be without its slot: in a host one that sleeps; in all of them one that can as well be bound, so that
// each host can use the slot.
Space* settler(Members& list, Word bytes) {
    for (Word i = 0; i < candidates; ++i) {
        Space* s = next_of(list);
        if (!s) break;
        if (of(*s).pinned || slot_limit(*s) < bytes) continue;
        if (&list == &exclusives ? bindable(*s) && !universal(*s) : asleep(*s)) return s;
    }
    return nullptr;
}

// Whose thread that is, if it is another space's.
Space* space_of(ThreadId id, const Space& space) {
    // Not threads::find(): that takes a waiting thread out of the fast path's way.
    const Thread& t = arch::thread_at(id.number());
    return id.is_global() && t.id == id && t.space != &space ? t.space : nullptr;
}

// Whose host `space` had best share: that of its last partner but for those who are at home in all.
Space* chosen_leader(const Space& space) {
    for (ThreadId id : of(space).partners) {
        Space* p = space_of(id, space);
        if (!p || exclusive(*p)) continue;
        Space* leader = of(*p).leader ? of(*p).leader : p;
        return leader == dissolving ? nullptr : leader;
    }
    return nullptr;
}

bool take_from(Space* loser, Space& space, Word bytes, Space* leader) {
    if (!loser) return false;
    check(tagged(*loser) && !of(*loser).pinned);
    take_slot(*loser);
    check(!tagged(*loser) && !of(*loser).leader);
    return give_slot(space, bytes, leader);
}

bool join(Space& space, Word bytes, Space* leader) {
    check(leader && !tagged(*leader) && !of(*leader).leader);
    of(space).astray = 0;
    return give_slot(space, bytes, leader) || take_from(settler(of(*leader).group, bytes), space, bytes, leader) ||
           take_from(settler(exclusives, bytes), space, bytes, leader);
}

// In all hosts: a free tag, or that of a space which gains less by it.
bool go_anywhere(Space& space, Word bytes) {
    return give_slot(space, bytes, nullptr) || take_from(victim(space, bytes), space, bytes, nullptr);
}

// Where only partners in all hosts keep two others of a group apart, one of these comes to `space`, and the rest can follow.
void invite(Space& space) {
    for (ThreadId id : of(space).partners) {
        Space* p = space_of(id, space);
        if (!p || !exclusive(*p) || of(*p).pinned || universal(*p)) continue;
        Word bytes = slot_limit(*p);
        of(*p).astray = 0;
        // What it gets there may be the place that it has.
        if (!take_from(p, *p, bytes, &space)) give_slot(*p, bytes, nullptr);
        return;
    }
}

bool may_dissolve(const Space& leader) {
    Word looked = 0;
    for (const Space* s = of(leader).group.front(); s; s = of(leader).group.after(*s))
        if (of(*s).pinned || ++looked > members) return false;
    return true;
}

bool seek(Space& space);

// Its members lose their tags, a few at once and the rest at the next ticks. Then it seeks one.
void dissolve_some() {
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

// A space without a tag that is switched to a lot: whether it has one now, or will seek again when its group is gone.
bool seek(Space& space) {
    Word bytes = needed(space);
    if (bytes > most_bytes) return false;
    Space* leader = rules.groups && !universal(space) ? chosen_leader(space) : nullptr;
    if (of(space).group.empty()) {
        if (give_slot(space, bytes, nullptr) || (leader && join(space, bytes, leader)) || go_anywhere(space, bytes)) return true;
    } else if (!dissolving && leader != &space && may_dissolve(space)
               && (leader ? kin(space, *leader) >= kin(space, space) : universal(space) && victim(space, bytes))) {
        // It gives its own group up for one that is as good, or to be at home in all.
        dissolving = &space;
        dissolve_some();
    }
    if (!leader && rules.groups && !universal(space)) invite(space);
    return tagged(space) || dissolving == &space;
}

// After a search in vain it waits for some looks.
void seek_now_and_then(Space& space) {
    if (of(space).waits)
        --of(space).waits;
    else if (!seek(space))
        of(space).waits = pause;
}

// One that is bound to a host: is it the right one?
void settle(Space& space) {
    check(tagged(space) && of(space).leader && !tagged(*of(space).leader));
    Word bytes = slot_limit(space);
    if (universal(space)) {
        // Most of its partners are elsewhere: to be large is cheaper.
        if (!go_anywhere(space, bytes)) take_slot(space);
        return;
    }
    Space* leader = chosen_leader(space);
    if (!leader || leader == of(space).leader) {
        of(space).astray = 0;
        return;
    }
    if (++of(space).astray >= patience && !join(space, bytes, leader)) take_slot(space);
}

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
    if (++of(space).notes % late == 0) of(space).met_before = of(space).met, of(space).met = 0;
    of(space).met |= bit_of(*now);
}

// At a tick: the space that runs, the one that it was switched to from, and the one before that.
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

// A tag that covers that much in exchange for the one that it has, or none.
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
    dissolve_some();
    for (Word i = 0; i < looks; ++i) {
        Space& space = advance();
        Word switches = take_switches(space);
        of(space).gain += switches - (of(space).gain + memory - 1) / memory;
        if (switches) note_partner(space, slots::partner(space));
        if (of(space).pinned || !space.initialised()) continue;
        if (of(space).leader && rules.groups)
            settle(space);
        else if (!tagged(space) && of(space).gain >= worthwhile && !dissolving)
            seek_now_and_then(space);
    }
}

void forget(Space& space) {
    if (hand == &space) hand = spaces::all().after(space);
    if (dissolving == &space) dissolving = nullptr;
}

}  // namespace slots
