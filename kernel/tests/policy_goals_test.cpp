// SPDX-License-Identifier: BSD-2-Clause
// What the rules about slots are to achieve, whatever they are. From random starts they find the groups of U02's two
// patterns, and then leave them alone. Of small random graphs they find places for the spaces that are not much worse
// than the best ones. And on random operations they keep to what SpaceControl and the options allow.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "tag_port.hpp"

namespace {

using namespace tag_port;

constexpr Word mb = 1u << 20;

// Spaces that talk. Each has a host: its own page directory if it is large, its leader's if it is bound; none if it is
// exclusive, which is to say all of them.
class Talking : public testing::Test {
protected:
    Talking() { port = {}; }
    ~Talking() override {
        actors.clear();
        slots::rules = {};
        port = {};
    }
    Actor& make(Word bytes) {
        actors.push_back(std::make_unique<Actor>(++numbers, bytes));
        slots::begin(actors.back()->space);
        return *actors.back();
    }
    // The clock ticks at random, every `switches_a_tick` switches.
    void go(Actor& to) {
        constexpr int switches_a_tick = 700;
        if (current == &to) return;
        if (current) port.switch_to(*current, to);
        current = &to;
        if (random() % switches_a_tick) return;
        port.events.clear();
        slots::look();
        ++ticks;
        for (const auto& e : port.events)
            if (e.given) ++moves[e.space];
    }
    // Random pairs talk, for so many ticks, a third of the time neighbours.
    void chatter(int length) {
        for (int end = ticks + length; ticks < end;) {
            std::size_t a = random() % actors.size(), b = random() % 3 ? random() % actors.size() : a ^ 1;
            for (unsigned i = random() % 40; i-- && b < actors.size();) go(*actors[a]), go(*actors[b]);
        }
    }
    static const Space* host(const Actor& a) { return !port.of(a.space) ? &a.space : slots::of(a.space).leader; }

    std::mt19937 random;
    std::vector<std::unique_ptr<Actor>> actors;
    Actor* current = nullptr;
    Word numbers = 0;
    int ticks = 0;
    std::map<const Space*, long> moves;     // slots given to each
};

// ------------------------------------------------------------------------------------------- groups are found

// The patterns of user/groups, which uhlig02/fig9 runs: batches of items for groups that a driver chooses at random. A
// pipeline passes each item on; a web server calls the server of all, one of its workers, which calls that server too,
// and the server of all again. Two more spaces, with short slots, have been partners of all others and sleep.
struct Pattern {
    bool web;
    unsigned seed;
};
class Patterns : public Talking, public testing::WithParamInterface<Pattern> {
protected:
    static constexpr Word bytes = 16 * mb;
    static constexpr int batch = 64;

    void set_up(bool is_web, unsigned seed) {
        web = is_web;
        random.seed(seed);
        // Places for a group of four and, for web servers, half of one more; an eighth or a quarter for all hosts only.
        // What sleeps would fit in a part of one.
        port.places.assign(web ? 6 : 3, {bytes, true});
        port.places.insert(port.places.end(), web ? 2 : 1, {bytes, false});
        port.places.push_back({mb, true, 0});
        port.places.push_back({4 * mb, true, 1});
        make(mb), make(4 * mb);
        driver = &make(bytes);
        server = web ? &make(bytes) : nullptr;
        for (Word size : web ? std::vector<Word>(6, 4) : std::vector<Word>{3, 3, 4, 3, 4, 3, 4}) {
            groups.emplace_back();
            while (size--) groups.back().push_back(&make(bytes));
        }
    }
    void ask_server(Actor& from) { go(*server), go(from); }
    void work_on(std::vector<Actor*>& group, int item) {
        if (!web) {
            for (Actor* a : group) go(*a);
            for (std::size_t i = group.size(); i--;) go(*group[i]);
            return;
        }
        Actor &first = *group[0], &worker = *group[1 + static_cast<std::size_t>(item) % (group.size() - 1)];
        ask_server(first), go(worker), ask_server(worker), go(first), ask_server(first);
    }
    void run(int length) {
        for (int end = ticks + length; ticks < end;) {
            auto& group = groups[random() % groups.size()];
            go(*driver), go(*group[0]);
            for (int item = 0; item < batch; ++item) work_on(group, item);
            go(*group[0]);
        }
    }
    // All members at home in one host, or in all; and nobody of another group there.
    bool found() const {
        std::set<const Space*> taken;
        for (auto& group : groups) {
            std::set<const Space*> hosts;
            for (const Actor* a : group)
                if (host(*a)) hosts.insert(host(*a));
            if (hosts.size() != 1 || !taken.insert(*hosts.begin()).second) return false;
        }
        return !web || !host(*server);
    }

    bool web = false;
    Actor *driver = nullptr, *server = nullptr;
    std::vector<std::vector<Actor*>> groups;
};

struct Starts : Patterns {
    explicit Starts(Pattern p) { set_up(p.web, p.seed); }
    void TestBody() override {}
    using Patterns::chatter, Patterns::run, Patterns::found;
    // Of the driver, and of all others.
    std::pair<long, long> moves_in(int length) {
        moves.clear();
        run(length);
        long own = moves[&driver->space], all = 0;
        for (const auto& one : moves) all += one.second;
        return {own, all - own};
    }
};

// A start in a hundred may be missed.
unsigned may_miss(unsigned starts) { return (starts + 99) / 100; }

// From how many of the first `starts` starts the groups are found, after a time in which spaces talk at random. Then
// nobody's slot changes; but the driver is in no group, and has as many partners as make a hub: it moves at times.
unsigned found_from(unsigned starts, bool web, int chatter) {
    SCOPED_TRACE(testing::Message() << (web ? "web" : "pipeline") << ", after " << chatter << " ticks");
    unsigned found = 0, restless = 0;
    long of_drivers = 0;
    for (unsigned seed = 1; seed <= starts; ++seed) {
        Starts one({web, seed});
        one.chatter(chatter);
        one.run(2000);
        if (!one.found()) continue;
        ++found;
        auto [drivers, others] = one.moves_in(500);
        of_drivers += drivers;
        restless += others != 0;
    }
    EXPECT_LE(of_drivers, starts / 2) << "moves of the driver, in all runs: one in a thousand ticks";
    EXPECT_LE(restless, starts / 100) << "runs in which others moved";
    return found;
}

// From more starts than 15 if the environment says how many: a hundred take a minute (`./cobnut test long`).
TEST(Groups, AreFoundFromAnyStartAndKept) {
    const char* asked = std::getenv("STARTS");
    const unsigned starts = asked ? static_cast<unsigned>(std::atoi(asked)) : 15;
    ASSERT_GT(starts, 0u);
    for (bool web : {false, true})
        for (int chatter : {0, 300}) EXPECT_GE(found_from(starts, web, chatter) + may_miss(starts), starts);
}

// ------------------------------------------------------------------------------------------- against the best

// Six spaces with random wishes to talk, a place that can be bound, and one that cannot.
class SmallGraphs : public Talking {
protected:
    static constexpr std::size_t n = 6;
    static constexpr int exclusive = n, in_the_bound = n + 1;  // beside the number of a leader, its own: large

    void set_up(unsigned seed) {
        random.seed(seed);
        port.places = {{mb, true}, {mb, false}};
        for (std::size_t i = 0; i < n; ++i) make(mb);
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < a; ++b) weight[a][b] = random() % 4 ? random() % 4 : 20 + random() % 80;
    }
    void run(int length) {
        std::vector<std::pair<std::size_t, std::size_t>> all;
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < a; ++b) all.insert(all.end(), weight[a][b], {a, b});
        for (int end = ticks + length; ticks < end;) {
            auto [a, b] = all[random() % all.size()];
            for (int i = 0; i < 8; ++i) go(*actors[a]), go(*actors[b]);
        }
    }
    // What is talked from one host to another.
    template <typename Host>
    unsigned cost(Host host_of) const {
        unsigned sum = 0;
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < a; ++b)
                if (host_of(a) != exclusive && host_of(b) != exclusive && host_of(a) != host_of(b)) sum += weight[a][b];
        return sum;
    }
    unsigned cost_found() const {
        return cost([&](std::size_t i) {
            const Space* h = host(*actors[i]);
            for (std::size_t j = 0; j < n; ++j)
                if (h == &actors[j]->space) return static_cast<int>(j);
            return static_cast<int>(exclusive);
        });
    }
    // By trying all: which spaces are exclusive, in which place, and which are bound to which leader.
    unsigned cost_of_best() const {
        unsigned least = ~0u;
        std::array<int, n> kind{};
        std::function<void(std::size_t, bool, int)> choose = [&](std::size_t i, bool last_taken, int first) {
            if (i == n) {
                // A leader is large and has one member; there are none where the place belongs to a space in all
                // hosts.
                for (std::size_t s = 0; s < n; ++s) {
                    int leader = kind[s];
                    if (leader == exclusive || leader == static_cast<int>(s)) continue;
                    if (first || kind[static_cast<std::size_t>(leader)] != leader) return;
                    if (std::ranges::count(kind, leader) > 2) return;
                }
                least = std::min(least, cost([&](std::size_t s) { return kind[s]; }));
                return;
            }
            for (int k = 0; k < static_cast<int>(n); ++k) kind[i] = k, choose(i + 1, last_taken, first);
            kind[i] = exclusive;
            if (!last_taken) choose(i + 1, true, first);
            if (!first) choose(i + 1, last_taken, 1);
        };
        choose(0, false, 0);
        return least;
    }

    unsigned weight[n][n] = {};
};
struct SmallGraph : SmallGraphs {
    explicit SmallGraph(unsigned seed) { set_up(seed); }
    void TestBody() override {}
    using SmallGraphs::cost_found, SmallGraphs::cost_of_best, SmallGraphs::run;
    unsigned cost_of_large() const {
        return cost([](std::size_t i) { return static_cast<int>(i); });
    }
};

TEST(SmallGraphsOf, FindPlacesNotMuchWorseThanTheBest) {
    unsigned found = 0, best = 0, large = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SmallGraph one(seed);
        one.run(500);
        found += one.cost_found(), best += one.cost_of_best(), large += one.cost_of_large();
    }
    EXPECT_GE(found, best) << "nothing is better than the best";
    EXPECT_LE(found - best, (large - best) / 4)
        << "of what there is to gain: " << found << ", " << best << ", " << large;
}

// ------------------------------------------------------------------------------------------- what is allowed

class Operations : public Talking, public testing::WithParamInterface<unsigned> {
protected:
    Operations() {
        random.seed(GetParam());
        self = this;
        port.looked_at = [](Space& s) { self->looked_at(s); };
        for (int i = 0; i < 6; ++i) port.places.push_back({(i % 3 + 1u) * mb, i < 4});
    }
    unsigned below(std::size_t n) { return static_cast<unsigned>(random() % n); }
    Actor& any() { return *actors[below(actors.size())]; }

    // The rules are about to look at `s`.
    void looked_at(Space& s) {
        judge();
        ASSERT_EQ(&s, &actors[hand]->space) << "each in turn";
        hand = (hand + 1) % actors.size();
        looked = &s;
        searches = first && port.events.empty() && !slots::of(s).skips;
        first = false;
        before = port.held;
        port.events.clear();
    }
    // They have looked at `looked`.
    void judge() {
        if (!looked) return;
        Space& s = *std::exchange(looked, nullptr);
        for (auto& e : port.events) {
            given += e.given, bound += e.given && e.held.leader;
            EXPECT_FALSE(slots::of(*e.space).pinned) << "SpaceControl has asked for what it has";
            EXPECT_TRUE(slots::rules.groups || !e.given || !e.held.leader) << "a bound slot, without groups";
            if (!e.given) continue;
            EXPECT_GE(port.places[e.held.place].bytes, slots::needed(*e.space));
            EXPECT_TRUE(!e.held.leader || !port.of(*e.held.leader)) << "a leader is large";
        }
        EXPECT_TRUE(!slots::of(s).pinned || port.events.empty());
        bool waits =
            searches && !port.of(s) && !slots::of(s).pinned && slots::of(s).gain >= 64 && slots::of(s).group.empty();
        bool free = port.free_place(slots::needed(s), nullptr) < port.places.size();
        // A slot that became free while a partner was moved is for the next look.
        EXPECT_FALSE(waits && port.events.empty() && free) << "it is busy, and there is a slot that nobody has";
    }
    void make_one() {
        bool on = slots::rules.automatic;
        Word size = (below(4) + 1) * mb / (below(2) + 1);
        bool free = port.free_place(size, nullptr) < port.places.size();
        EXPECT_EQ(port.of(make(size).space) != nullptr, free && on);
    }
    void destroy() {
        unsigned i = below(actors.size());
        if (current == actors[i].get()) current = nullptr;
        actors.erase(actors.begin() + i);
        if (i < hand) --hand;
        if (hand == actors.size()) hand = 0;
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
    // Often among neighbours, at times with the first one or a random one.
    void talk() {
        unsigned i = below(actors.size());
        Actor& a = *actors[i];
        Actor& b = below(8) ? *actors[(i ^ partner) % actors.size()] : below(2) ? *actors[0] : any();
        if (&a == &b) return;
        for (unsigned k = below(60); k--;) port.switch_to(a, b), port.switch_to(b, a);
    }
    void look() {
        port.events.clear();
        first = true;
        slots::look();
        judge();
        EXPECT_TRUE(slots::rules.automatic || port.events.empty());
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

    static inline Operations* self;
    std::size_t hand = 0;
    unsigned partner = 1;  // of the space of an index: which bits of that differ
    int given = 0, bound = 0;
    Space* looked = nullptr;
    // The tick's first: and whether it is that, with no group given up, and has not searched in vain at its last looks.
    bool first = false, searches = false;
    std::map<const Space*, Held> before;
};

TEST_P(Operations, KeepToWhatIsAllowed) {
    for (int i = 0; i < 6; ++i) make_one();
    for (int operation = 0; operation < 50000; ++operation) {
        SCOPED_TRACE(testing::Message() << "seed " << GetParam() << ", operation " << operation);
        unsigned what = below(1000);
        if (what < 12 && actors.size() < 24) make_one();
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
INSTANTIATE_TEST_SUITE_P(Seeds, Operations, testing::Values(1995u, 2002u, 20021u));

}  // namespace
