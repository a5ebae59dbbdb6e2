// SPDX-License-Identifier: BSD-2-Clause
// Every decision of the rules about slots, on random operations, against a model that searches all spaces for what may
// be done: which spaces could have lost a slot, which slots were free, which host is the right one. The model keeps
// what the rules are to know of a space by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "tag_port.hpp"

namespace {

using namespace tag_port;

constexpr Word mb = 1u << 20, most_bytes = 256 * mb;
// docs/tags.md, and the constants of slots/policy.cpp.
constexpr Word looks_per_tick = 4, least_gain = 64, hub_spread = 176, hub_partners = 9, hysteresis = 4, backoff = 8,
               notes_kept = 512;

// What is to be known of a space.
struct Known {
    Word gain = 0, spread = 0, misplaced = 0, skips = 0;
    const Space* partners[2] = {};      // nullptr: none, or it is gone
    std::deque<Word> notes;             // all of late: which thread was left
};
// A space's tag, and what there was before a look.
using Tags = std::map<const Space*, Held>;

class PolicyModel : public testing::TestWithParam<unsigned> {
protected:
    PolicyModel() : random(GetParam()) {
        model = this;
        port = {};
        port.looked_at = [](Space& s) { model->looked_at(s); };
        for (int i = 0; i < 6; ++i) port.places.push_back({(i % 3 + 1u) * mb, i < 4});
    }
    ~PolicyModel() override {
        actors.clear();
        slots::rules = {};
        port = {};
    }
    unsigned below(std::size_t n) { return static_cast<unsigned>(random() % n); }
    Actor& any() { return *actors[below(actors.size())]; }

    // ------------------------------------------------------------------------------------------- what is to be known

    Actor* living(const Space* s) {
        auto i = std::find_if(actors.begin(), actors.end(), [&](auto& a) { return &a->space == s; });
        return i == actors.end() ? nullptr : i->get();
    }
    const Space* left_for(const Actor& a) {
        for (auto& other : actors)
            if (other->thread.id == a.left && other.get() != &a) return &other->space;
        return nullptr;
    }
    void note(const Actor& a) {
        const Space* partner = left_for(a);
        if (!partner) return;
        Known& k = known[&a.space];
        bool strange = partner != k.partners[0] && partner != k.partners[1];
        if (partner != k.partners[0]) k.partners[1] = std::exchange(k.partners[0], partner);
        k.spread += (strange ? 16 : 0) - k.spread / 16;
        k.notes.push_back(a.left.number());
        if (k.notes.size() > notes_kept) k.notes.pop_front();
    }
    void note_running() {
        const Space* first = port.current ? port.current->space : nullptr;
        const Space* s = first;
        for (int i = 0; i < 3 && s && (i == 0 || s != first); ++i) {
            Actor& a = actor(*s);
            note(a);
            s = left_for(a);
        }
    }
    // The bits are the rules' own; that there are not more than partners is checked.
    bool is_hub(const Space& s) {
        const Known& k = known[&s];
        auto bits = static_cast<Word>(__builtin_popcount(slots::of(s).met | slots::of(s).met_before));
        EXPECT_LE(bits, std::set<Word>(k.notes.begin(), k.notes.end()).size());
        return k.spread >= hub_spread || bits >= hub_partners;
    }
    bool asleep(const Space& s) {
        const Actor& a = actor(s);
        return !known[&s].gain && !a.ready() && port.current != &a.thread;
    }
    static Word needed(const Space& s) { return std::max<Word>(actor(s).extent, page_size); }
    static const Space* leader_of(const Tags& tags, const Space* s) {
        auto i = tags.find(s);
        return i == tags.end() ? nullptr : i->second.leader;
    }
    static bool exclusive(const Tags& tags, const Space* s) { return tags.contains(s) && !leader_of(tags, s); }
    // Whose host it should share: the leader of its last partner that is not in all. It may be the one of its own
    // group.
    const Space* right_host(const Space& s) {
        for (const Space* p : known[&s].partners) {
            if (!p || exclusive(before, p)) continue;
            const Space* leader = leader_of(before, p);
            return leader ? leader : p;
        }
        return nullptr;
    }
    // To how many there it has talked of late, by the rules' own bits.
    static int partners_among(const Tags& tags, const Space& s, const Space* leader) {
        auto met = [&](const Space* o) {
            return (slots::of(s).met | slots::of(s).met_before) >>
                       (o->members.front()->id.number() * 2654435769u >> 27) &
                   1;
        };
        Word n = leader != &s && met(leader);
        for (auto& [o, held] : tags) n += held.leader == leader && met(o);
        return static_cast<int>(n);
    }
    static std::size_t members(const Tags& tags, const Space* leader) {
        return static_cast<std::size_t>(std::ranges::count_if(tags,
            [&](auto& t) { return t.second.leader == leader; }));
    }

    // ------------------------------------------------------------------------------------------- what may be done

    bool long_enough(const Space* holder, Word bytes) { return port.places[before.at(holder).place].bytes >= bytes; }
    // Who may have to give an exclusive tag to `s`: those who sleep, if there are any; else who gains least.
    std::set<const Space*> victims(const Space& s, Word bytes) {
        std::set<const Space*> sleeping, least;
        Word gain = ~Word{0};
        for (auto& [v, held] : before) {
            if (held.leader || v == &s || slots::of(*v).pinned || !long_enough(v, bytes)) continue;
            if (asleep(*v)) sleeping.insert(v);
            Word its = known[v].gain;
            if (is_hub(*v) || (!is_hub(s) && its >= known[&s].gain / 4)) continue;
            if (its < gain) least.clear(), gain = its;
            if (its == gain) least.insert(v);
        }
        return sleeping.empty() ? least : sleeping;
    }
    std::set<const Space*> bindable_victims(Word bytes) {
        std::set<const Space*> found;
        for (auto& [v, held] : before)
            if (!held.leader && !slots::of(*v).pinned && long_enough(v, bytes) && port.places[held.place].bindable &&
                !is_hub(*v))
                found.insert(v);
        return found;
    }

    // Those that sleep in a host, or else could as well be bound.
    std::set<const Space*> losers(const Space* host, Word bytes) {
        std::set<const Space*> found;
        for (auto& [v, held] : before)
            if (held.leader == host && !slots::of(*v).pinned && long_enough(v, bytes) && asleep(*v)) found.insert(v);
        return found.empty() ? bindable_victims(bytes) : found;
    }

    // The rules are about to look at `s`.
    void looked_at(Space& s) {
        finish_look();
        ASSERT_EQ(&s, &actors[hand]->space) << "each in turn";
        hand = (hand + 1) % actors.size();
        Known& k = known[&s];
        Word n = actor(s).switches;
        k.gain = k.gain + n - (k.gain + 7) / 8;
        if (n) note(actor(s));
        looked = &s;
        before = port.held;
        port.events.clear();
    }

    // They have: were they allowed to do what they did, and did they do what they had to?
    void finish_look() {
        if (!looked) return;
        Space& s = *std::exchange(looked, nullptr);
        Known& k = known[&s];
        for (auto& e : port.events) given += e.given, bound += e.given && e.held.leader;
        ASSERT_EQ(slots::of(s).gain, k.gain);
        ASSERT_EQ(slots::of(s).spread, k.spread);
        if (slots::of(s).pinned || !slots::rules.automatic || exclusive(before, &s)) return nothing_done();
        before.contains(&s) ? judge_bound(s, k) : judge_large(s, k);
        if (!slots::rules.groups) {
            for (auto& e : port.events) EXPECT_TRUE(!e.given || !e.held.leader);
        }
    }
    void nothing_done() { EXPECT_TRUE(port.events.empty()); }

    void judge_large(Space& s, Known& k) {
        Word bytes = needed(s);
        if (k.gain < least_gain) return nothing_done();
        if (k.skips) return --k.skips, nothing_done();
        const Space* host = slots::rules.groups && !is_hub(s) && bytes <= most_bytes ? right_host(s) : nullptr;
        auto events = without_own_group(s, host);
        bool got = port.of(s) != nullptr;
        if (!got) k.skips = backoff;
        if (host) k.misplaced = 0;
        if (bytes > most_bytes) return nothing_done();
        if (events.size() < port.events.size()) return;  // it gave up its group: what was free before does not count
        if (!got && !host) return judge_invitation(s);
        if (members(before, &s)) return nothing_done();
        judge_gift(s, bytes, host, events);
        bool free = free_before(bytes, nullptr) || (host && (free_before(bytes, host) || !losers(host, bytes).empty()));
        EXPECT_EQ(got, free || !victims(s, bytes).empty()) << "a tag was free or could be taken, or not";
    }

    // It stays large and has no host to go to: of its partners in all hosts, the last that need not be there comes to
    // it.
    void judge_invitation(const Space& s) {
        EXPECT_FALSE(!members(before, &s) && (free_before(needed(s), nullptr) || !victims(s, needed(s)).empty()));
        const Space* guest = nullptr;
        if (slots::rules.groups && !is_hub(s))
            for (const Space* p : known[&s].partners)
                if (!guest && p && exclusive(before, p) && !slots::of(*p).pinned && !is_hub(*p)) guest = p;
        if (!guest) return nothing_done();
        EXPECT_TRUE(std::ranges::all_of(port.events, [&](auto& e) { return e.space == guest; }));
        known[guest].misplaced = 0;
        Word bytes = port.places[before.at(guest).place].bytes;
        before.erase(guest);
        EXPECT_EQ(port.held.at(guest).leader, free_before(bytes, &s) ? &s : nullptr);
    }

    // What happened after those of its own group lost their tags, which they may only where it has as many partners
    // elsewhere, or for all hosts.
    std::vector<Event> without_own_group(const Space& s, const Space* host) {
        std::vector<Event> rest;
        std::size_t dissolved = 0;
        for (auto& e : port.events)
            if (!e.given && e.held.leader == &s) {
                ++dissolved;
                EXPECT_FALSE(slots::of(*e.space).pinned);
            } else {
                rest.push_back(e);
            }
        if (!dissolved) return rest;
        EXPECT_EQ(dissolved, members(before, &s)) << "all or none";
        EXPECT_TRUE((host && host != &s && partners_among(before, s, host) >= partners_among(before, s, &s)) ||
                    (is_hub(s) && !victims(s, needed(s)).empty()));
        return rest;
    }

    // A tag for `s`, with somebody's who had to give it before that.
    void judge_gift(const Space& s, Word bytes, const Space* host, const std::vector<Event>& events) {
        if (events.empty()) return;
        const Event& gift = events.back();
        EXPECT_TRUE(gift.given && gift.space == &s);
        EXPECT_GE(port.places[gift.held.place].bytes, bytes);
        EXPECT_TRUE(!gift.held.leader || gift.held.leader == host);
        std::vector<Event> lost(events.begin(), events.end() - 1);
        std::erase_if(lost, [&](auto& e) { return e.space == &s; });  // in exchange for the one that it had
        EXPECT_LE(lost.size(), 1u);
        for (auto& e : lost) {
            EXPECT_FALSE(e.given);
            auto allowed = gift.held.leader ? losers(gift.held.leader, bytes) : victims(s, bytes);
            EXPECT_TRUE(allowed.contains(e.space)) << (gift.held.leader ? "to settle" : "to lose");
            EXPECT_FALSE(free_before(bytes, gift.held.leader)) << "there was a free one";
        }
    }

    void judge_bound(Space& s, Known& k) {
        if (!slots::rules.groups) return nothing_done();
        Word bytes = port.places[before.at(&s).place].bytes;
        if (is_hub(s)) {
            bool free = free_before(bytes, nullptr) || !victims(s, bytes).empty();
            EXPECT_EQ(port.of(s) != nullptr, free) << "everybody's partner is in all hosts or large";
            EXPECT_EQ(slots::of(s).leader, nullptr);
            return free ? judge_gift(s, bytes, nullptr, port.events) : void();
        }
        const Space* host = right_host(s);
        if (!host || host == leader_of(before, &s)) return k.misplaced = 0, nothing_done();
        if (++k.misplaced < hysteresis) return nothing_done();
        k.misplaced = 0;
        if (port.of(s)) judge_gift(s, bytes, host, port.events);
        if (free_before(bytes, host) || !losers(host, bytes).empty()) EXPECT_EQ(slots::of(s).leader, host);
        else EXPECT_TRUE(!port.of(s) && port.events.size() == 1) << "its group can come to it";
    }

    bool free_before(Word bytes, const Space* leader) {
        auto now = std::exchange(port.held, before);
        bool free = port.free_place(bytes, leader) < port.places.size();
        port.held = now;
        return free;
    }

    // ------------------------------------------------------------------------------------------- operations

    void make() {
        actors.push_back(std::make_unique<Actor>(++numbers, (below(4) + 1) * mb / (below(2) + 1)));
        Space& s = actors.back()->space;
        bool free = port.free_place(needed(s), nullptr) < port.places.size();
        slots::begin(s);
        EXPECT_EQ(port.of(s) != nullptr, free && slots::rules.automatic);
    }
    void destroy() {
        unsigned i = below(actors.size());
        const Space* gone = &actors[i]->space;
        actors.erase(actors.begin() + i);
        if (i < hand) --hand;
        if (hand == actors.size()) hand = 0;
        known.erase(gone);
        for (auto& [s, k] : known)
            for (auto& p : k.partners)
                if (p == gone) p = nullptr;
    }
    void outgrow() {
        Space& s = any().space;
        if (!port.of(s)) return;
        Held held = *port.of(s);
        Word limit = port.places[held.place].bytes, bytes = below(2) ? limit + 1 : (below(5) + 1) * mb;
        bool unknown = bytes == limit + 1;
        port.held.erase(&s);  // its own place is free to it, too
        bool fits = bytes <= limit || port.free_place(bytes, held.leader) < port.places.size();
        port.held[&s] = held;
        unknown ? slots::outgrow(s) : slots::outgrow(s, bytes - 1);
        if (fits && slots::rules.automatic && !slots::of(s).pinned) {
            EXPECT_EQ(slots::of(s).leader, held.leader);
            EXPECT_GE(slots::slot_limit(s), bytes);
        } else {
            EXPECT_EQ(port.of(s), nullptr);
        }
    }
    void pin() {
        Space& s = any().space;
        slots::of(s).pinned = below(8) == 0;
        if (slots::of(s).pinned && below(2)) slots::take_slot(s);
    }
    // Often among neighbours, at times with the first one or with anybody.
    void talk() {
        unsigned i = below(actors.size());
        Actor& a = *actors[i];
        Actor& b = below(8) ? *actors[(i ^ partner) % actors.size()] : below(2) ? *actors[0] : any();
        if (&a == &b) return;
        for (unsigned n = below(60); n--;) port.switch_to(a, b), port.switch_to(b, a);
    }
    void look() {
        if (!slots::rules.automatic) return slots::look();
        note_running();
        slots::look();
        finish_look();
    }
    void check_lists() {
        std::size_t listed = 0;
        auto count = [&](auto& list, const Space* leader) {
            for (const Space* s = list.front(); s; s = list.after(*s), ++listed) {
                ASSERT_TRUE(port.held.contains(s));
                EXPECT_EQ(slots::of(*s).leader, leader);
            }
        };
        count(slots::exclusives, nullptr);
        for (auto& a : actors) count(slots::of(a->space).group, &a->space);
        EXPECT_EQ(listed, port.held.size());
    }

    static inline PolicyModel* model;
    std::mt19937 random;
    std::vector<std::unique_ptr<Actor>> actors;
    std::map<const Space*, Known> known;
    std::size_t hand = 0;
    Word numbers = 0;
    unsigned partner = 1;  // of the space of an index: which bits of that differ
    int given = 0, bound = 0;  // tags, at looks
    Space* looked = nullptr;
    Tags before;
};

TEST_P(PolicyModel, AllowsEveryDecision) {
    for (int i = 0; i < 6; ++i) make();
    for (int operation = 0; operation < 50000; ++operation) {
        SCOPED_TRACE(testing::Message() << "seed " << GetParam() << ", operation " << operation);
        unsigned what = below(1000);
        if (what < 12 && actors.size() < 24) make();
        else if (what < 23 && actors.size() > 4) destroy();
        else if (what < 29) outgrow();
        else if (what < 32) pin();
        else if (what < 34) slots::rules = {below(8) != 0, below(4) != 0};
        else if (what < 38) partner = below(8);
        else if (what < 80) any().set_ready(below(2));
        else if (what < 700) talk();
        else look();
        check_lists();
        if (HasFailure()) return;
    }
    EXPECT_GT(given, 200) << "there was something to be judged";
    EXPECT_GT(bound, 100);
}
INSTANTIATE_TEST_SUITE_P(Seeds, PolicyModel, testing::Values(1995u, 2002u, 20021u));

}  // namespace
