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
// Spaces visited at a tick of the clock; holders of slots that a search for a victim visits; threads that it asks, in
// all.
constexpr Word looks_per_tick = 4, most_candidates = 32, most_asked = 64;
// At each look a space's gain loses one part in `decay`. It seeks a slot from `least_gain` on.
constexpr Word decay = 8, least_gain = 64;
// A space takes an exclusive slot from another only if its gain is more than so many times the other's: with less, two
// spaces would take each other's slots by chance (docs/tags.md).
constexpr Word gain_ratio = 4;
// A space with so many recent partners is a hub.
constexpr Word hub_partners = 6;
// So many votes are a majority; no more are counted.
constexpr Word majority = 4;
// Looks that a space skips after a search in vain, which takes some thousand instructions.
constexpr Word backoff = 4;
// A leader with more members does not give up its group: to check them would take too long.
constexpr Word most_members = 128;
// Spaces whose partners are noted at a tick: the running one, the one before it and the one before that.
constexpr Word noted_per_tick = 3;

Space* hand;        // the next space that look() visits; nullptr: the first
Word rounds = checks::counter_start;  // how often look() has begun at the first
Space* dissolving;  // a leader that gives up its group; nullptr: none

Space& next_space() {
    if (!hand) hand = spaces::all.front(), ++rounds;
    Space* s = hand;
    hand = spaces::all.after(*s);
    return *s;
}

bool is_small(const Space& s) { return slot_limit(s); }

// A hub is a partner of many spaces: a pager, a server, an operating system.
bool is_hub(const Space& s) {
    Word n = 0;
    for (Word met = of(s).met; met; met &= met - 1) ++n;
    return n >= hub_partners;
}

// A space's bit in a set of partners, by its first thread's number (Knuth's multiplicative hashing); 0 if it has no
// thread.
Word hash_bit(const Space& space) {
    const Thread* t = space.members.front();
    return t ? 1u << (t->id.number() * 2654435769u >> 27) : 0;
}

// A space sleeps if it was not switched to recently and none of its first threads is ready. `left`: how many threads
// may still be asked.
bool asleep(const Space& space, Word& left) {
    if (of(space).gain) return false;
    for (const Thread* t = space.members.front(); t && left; t = space.members.after(*t), --left)
        if (t->ready_link.queued() || t == arch::current_thread()) return false;
    return left;
}
bool asleep(const Space& space) {
    Word left = most_asked;
    return asleep(space, left);
}

// Visits some holders of slots, each once, from where the search before ended.
class Search {
public:
    explicit Search(Members& list) : list_(list), first_(list.front()) {}
    Space* next() {
        bool round = looked_ && list_.front() == first_;
        return round || looked_++ == most_candidates ? nullptr : next_of(list_);
    }

private:
    Members& list_;
    const Space* first_;
    Word looked_ = 0;
};

// Finds the victim that loses an exclusive slot to `space`, which needs `bytes`: a space that sleeps, or the one with
// the least gain, if that is low enough (gain_ratio). Hubs lose slots to hubs only; all others lose them to hubs
// whatever they gain. If there is no such victim, one that sleeps with a shorter slot: several of them together make
// room for a longer one.
Space* exclusive_victim(const Space& space, Word bytes) {
    Space *best = nullptr, *shorter = nullptr;
    bool hub = is_hub(space);
    Word left = most_asked;
    for (Search search{exclusives}; Space* s = search.next();) {
        if (s == &space || of(*s).pinned) continue;
        bool fits = slot_limit(*s) >= bytes;
        if (asleep(*s, left)) {
            if (fits) return s;
            shorter = s;
        }
        bool gives_way = is_hub(*s) == hub ? of(*s).gain < of(space).gain / gain_ratio : hub;
        if (fits && gives_way && (!best || of(*s).gain < of(*best).gain)) best = s;
    }
    return best ? best : shorter;
}

// Finds the victim whose exclusive slot makes room for bound ones, one in every host: a space that is no hub, or
// sleeps; where there is none, one that sleeps with a shorter slot.
Space* bindable_victim(Word bytes) {
    Space* shorter = nullptr;
    Word left = most_asked;
    for (Search search{exclusives}; Space* s = search.next();) {
        if (of(*s).pinned || !bindable(*s)) continue;
        bool sleeps = asleep(*s, left);
        if (slot_limit(*s) >= bytes && (sleeps || !is_hub(*s))) return s;
        if (sleeps) shorter = s;
    }
    return shorter;
}

// The space that a thread belongs to; nullptr if the thread is gone, or the space is `space` itself.
Space* space_of(ThreadId id, const Space& space) {
    const Thread& t = arch::thread_at(id.number());
    return id.is_global() && t.id == id && t.space != &space ? t.space : nullptr;
}

// The leader of a space's host: itself if it is large; nullptr if its slot is exclusive.
Space* host_of(Space& space) { return is_small(space) ? of(space).leader : &space; }

// The space that leads a space's majority vote; nullptr: none.
Space* voted_for(const Space& space) { return of(space).votes ? space_of(of(space).candidate, space) : nullptr; }

// The candidate: that space, as long as it is a recent partner. Hubs get no votes, so a space that calls hubs alone
// would keep its first candidate for ever.
Space* candidate_of(const Space& space) {
    Space* candidate = voted_for(space);
    return candidate && of(space).met & hash_bit(*candidate) ? candidate : nullptr;
}

// The leader whose host `space` should share: its candidate's, if it has that many votes; nullptr: none.
Space* preferred_leader(const Space& space, Word votes) {
    Space* candidate = of(space).votes >= votes ? candidate_of(space) : nullptr;
    Space* leader = candidate ? host_of(*candidate) : nullptr;
    return leader == dissolving ? nullptr : leader;
}

// Whether the space or its candidate is a partner of the leader. (Two spaces may have the same bit.)
bool near(const Space& space, const Space& leader) {
    const Space* candidate = candidate_of(space);
    return (of(space).met | (candidate ? of(*candidate).met : 0)) & hash_bit(leader);
}

// Finds the victim that loses its bound slot to a space that is near the leader: a member that is not.
Space* bound_victim(Space& leader, Word bytes) {
    for (Search search{of(leader).group}; Space* s = search.next();)
        if (!of(*s).pinned && slot_limit(*s) >= bytes && !near(*s, leader)) return s;
    return nullptr;
}

// Takes the victim's slot, if there is a victim, and gives `space` one if that makes room. True if there is a victim:
// taking another one's slot at the same tick would take too long.
bool take_from(Space* victim, Space& space, Word bytes, Space* leader) {
    if (!victim) return false;
    check(is_small(*victim) && !of(*victim).pinned);
    take_slot(*victim);
    check(!is_small(*victim) && !of(*victim).leader);
    give_slot(space, bytes, leader);
    return true;
}

// Gives `space` a slot in the leader's host: a free one, or that of a victim.
bool get_bound(Space& space, Word bytes, Space* leader) {
    check(leader && !is_small(*leader) && !of(*leader).leader);
    return give_slot(space, bytes, leader) || take_from(bindable_victim(bytes), space, bytes, leader) ||
           (near(space, *leader) && take_from(bound_victim(*leader, bytes), space, bytes, leader));
}

// Gives `space` an exclusive slot: a free one, or that of a victim.
bool get_exclusive(Space& space, Word bytes) {
    return give_slot(space, bytes, nullptr) || take_from(exclusive_victim(space, bytes), space, bytes, nullptr);
}

// Exchanges the slot of a small space for one in the leader's host. False if there is none; then it keeps its slot.
bool move_to(Space& leader, Space& space) {
    Space* before = of(space).leader;
    Word bytes = slot_limit(space);
    take_slot(space);
    if (give_slot(space, bytes, &leader)) return true;
    give_slot(space, bytes, before);
    return false;
}

// Whether a space's slot may be exchanged for one in the host of a large space that it talks to.
bool may_be_invited(const Space& space) { return is_small(space) && !of(space).pinned && !is_hub(space); }

// Moves the candidate of `space` to the host of `space`, if its slot is exclusive and it is no hub, or if its slot is
// bound to a host for which it has no majority, or whose leader is no partner. False if it stays.
bool invite(Space& space) {
    Space* p = candidate_of(space);
    if (!p || !may_be_invited(*p)) return false;
    Space* leader = of(*p).leader;
    if (leader == &space || (leader && preferred_leader(*p, majority) == leader && near(*p, *leader))) return false;
    return move_to(space, *p);
}

// Whether a group can be given up: no member has asked for its slot there.
bool may_dissolve(const Space& leader) {
    Word looked = 0;
    for (const Space* s = of(leader).group.front(); s; s = of(leader).group.after(*s))
        if (of(*s).pinned || ++looked > most_members) return false;
    return true;
}

// Seeks a slot for a large space. If none is available, its candidate may be invited to its own host, or a group be
// given up: the space's own for a slot elsewhere, or that of a leader that sleeps. False if nothing was done.
bool seek(Space& space) {
    Word bytes = needed(space);
    if (bytes > most_bytes) return false;
    bool hub = is_hub(space), leads = !of(space).group.empty(), in_groups = rules.groups && !hub;
    Space* leader = in_groups ? preferred_leader(space, leads ? majority : 1) : nullptr;
    if (leader == &space) return false;
    if (!leads) {
        bool done = give_slot(space, bytes, nullptr) || (leader && get_bound(space, bytes, leader)) ||
                    take_from(exclusive_victim(space, bytes), space, bytes, nullptr);
        // A victim's slot may be of use to nobody in the leader's host.
        if (done) return is_small(space) || give_slot(space, bytes, nullptr), true;
    }
    Space* giving_up = leader && asleep(*leader) ? leader : nullptr;
    if (!giving_up && in_groups && invite(space)) return true;
    if (!giving_up && leads && (leader || (hub && exclusive_victim(space, bytes)))) giving_up = &space;
    if (!giving_up || dissolving || !may_dissolve(*giving_up)) return false;
    dissolving = giving_up;
    return true;
}

// Takes the slot of a member of the group that is given up, one at each tick. When none is left the leader seeks a
// slot first. True if it has.
bool dissolve() {
    if (!dissolving) return false;
    Space& leader = *dissolving;
    check(leader.all_link.queued());
    Space* last = of(leader).group.front();
    if (last && !of(*last).pinned) take_slot(*last);
    Space* rest = of(leader).group.front();
    if (rest && !of(*rest).pinned) return false;
    dissolving = nullptr;
    return last && !rest && !of(leader).pinned && !is_small(leader) && of(leader).gain >= least_gain &&
           (seek(leader), true);
}

// Whether a bound space has no partner in its host, but a majority for a space with an exclusive slot. Two clients of
// that space would never meet, as it is in no host; once large, this one can invite it.
bool should_invite(const Space& space) {
    const Space* p = of(space).votes == majority ? candidate_of(space) : nullptr;
    return p && may_be_invited(*p) && !of(*p).leader && !near(space, *of(space).leader);
}

// Reviews a space with an exclusive slot. If its majority is for one host and slots are scarce (the leader has a
// group, or has sought a slot in vain), it moves there: its slot is free for others then, and its partners find a host
// to share. False if it stays.
bool review_exclusive(Space& space) {
    if (is_hub(space) || of(space).gain < least_gain) return false;
    Space* leader = preferred_leader(space, majority);
    bool scarce = leader && (of(*leader).skips || !of(*leader).group.empty());
    return scarce && move_to(*leader, space);
}

// Reviews a bound space. It becomes large if it sleeps, or if it is to invite its candidate. A hub gets an exclusive
// slot; others move to the host that they prefer. If there is no room it becomes large: its partners can move to its
// host. False if it stays.
bool review_bound(Space& space) {
    check(is_small(space) && of(space).leader && !is_small(*of(space).leader));
    Word bytes = slot_limit(space);
    Space* leader = preferred_leader(space, majority);
    bool hub = is_hub(space), leaves = asleep(space) || (!hub && should_invite(space));
    if (!leaves && !hub && (!leader || leader == of(space).leader)) return false;
    if (leaves || !(hub ? get_exclusive(space, bytes) : get_bound(space, bytes, leader))) take_slot(space);
    return true;
}

// Notes that `space` was switched to from that thread: a vote for the host of its partner, or against the candidate's;
// without votes the candidate is replaced (the majority vote of Boyer and Moore, 1981). The candidate is the last
// partner met in the host that leads. Hubs get no votes: they are partners of many, and should have exclusive slots.
// An exclusive hub does not count towards making others hubs.
void note_partner(Space& space, ThreadId partner) {
    State& state = of(space);
    Space* now = space_of(partner, space);
    if (!now) return;
    Space *candidate = voted_for(space), *host = host_of(*now);
    bool hub = is_hub(*now);
    if (!hub || host) state.met |= hash_bit(*now);
    if (hub) return;
    if (candidate && candidate != now && (!host || host_of(*candidate) != host)) {
        --state.votes;
        return;
    }
    state.candidate = partner;
    state.votes = !candidate ? 1 : state.votes < majority ? state.votes + 1 : majority;
}

// Notes the partners of the running space, of the one that it was switched to from, and of the one before that.
void note_running() {
    Thread* current = arch::current_thread();
    Space* space = current ? current->space : nullptr;
    for (Word i = 0; space && i < noted_per_tick; ++i) {
        ThreadId partner = slots::partner(*space);
        note_partner(*space, partner);
        space = space_of(partner, *space);
        if (current->space == space) break;     // a partner noted twice would get two votes
    }
}

}  // namespace

Word needed(const Space& space) {
    VAddr end = paging::extent(space);
    // The interface page is mapped already; UTCB pages are mapped one by one.
    if (space.initialised() && space.utcb_area.last() >= end) end = space.utcb_area.last() + 1;
    return end;
}

namespace {

// Exchanges a space's slot for one of that many bytes; if there is none it becomes large.
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
    // At most one search, or change, at a tick.
    bool searched = dissolve();
    for (Word i = 0; i < looks_per_tick; ++i) {
        Space& space = next_space();
        Word switches = take_switches(space);
        of(space).gain += switches - (of(space).gain + decay - 1) / decay;
        of(space).met &= ~(1u << rounds % 32);  // each bit is cleared once in 32 rounds
        if (switches) note_partner(space, slots::partner(space));
        if (searched || of(space).pinned || !space.initialised()) continue;
        if (is_small(space) && rules.groups) {
            searched = of(space).leader ? review_bound(space) : review_exclusive(space);
        } else if (!is_small(space) && of(space).gain >= least_gain && !dissolving) {
            searched = !of(space).skips;
            if (of(space).skips) --of(space).skips;
            else if (!seek(space)) of(space).skips = backoff;
        }
    }
}

// Until then the space stays in spaces::all: slots may be in the way of a named one, and its page directory may hold
// copies of entries. The rules leave it alone, but may bind more spaces to its directory where others are bound
// already.
bool retire(Space& space) {
    of(space).pinned = true;
    if (Space* member = of(space).group.front()) return take_slot(*member), false;
    if (is_small(space)) return take_slot(space), false;
    if (hand == &space) hand = spaces::all.after(space);
    if (dissolving == &space) dissolving = nullptr;
    return true;
}

}  // namespace slots
