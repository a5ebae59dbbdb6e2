// SPDX-License-Identifier: BSD-2-Clause
// The rules about slots (docs/tags.md): what each of them promises in small examples; and on random operations every
// single decision against a model that searches all spaces for what would have been allowed.
#include "slots/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tag_port.hpp"

namespace {

using namespace tag_port;

constexpr Word mb = 1u << 20;

struct PolicyTest : testing::Test {
    PolicyTest() { port = {}; }
    ~PolicyTest() override {
        actors.clear();
        slots::rules = {};
        port = {};
    }
    Actor& make(Word bytes = mb) {
        actors.push_back(std::make_unique<Actor>(++numbers, bytes));
        return *actors.back();
    }
    Actor& begin(Word bytes = mb) {
        Actor& a = make(bytes);
        slots::begin(a.space);
        return a;
    }
    // Both ways.
    static void talk(Actor& from, Actor& to, int times = 1) {
        for (int i = 0; i < times; ++i) port.switch_to(from, to), port.switch_to(to, from);
    }
    void look_at_all() {
        for (std::size_t i = 0; i < actors.size(); i += 4) slots::look();
    }
    static bool large(const Actor& a) { return !port.of(a.space); }
    static bool exclusive(const Actor& a) { return !large(a) && !slots::of(a.space).leader; }
    static const Space* host(const Actor& a) {
        return slots::of(a.space).leader ? slots::of(a.space).leader : &a.space;
    }
    // Of a group's members that are not at home in all.
    static std::set<const Space*> hosts(std::span<Actor* const> group) {
        std::set<const Space*> found;
        for (const Actor* a : group)
            if (!exclusive(*a)) found.insert(host(*a));
        return found;
    }

    std::vector<std::unique_ptr<Actor>> actors;
    Word numbers = 0;
};

TEST_F(PolicyTest, ASpaceStartsInTheSmallestPlaceThatHoldsItAndIsFree) {
    port.places = {{mb, false}, {4 * mb, false}};
    EXPECT_TRUE(exclusive(begin(mb)));
    EXPECT_EQ(slots::slot_limit(begin(2 * mb).space), 4 * mb);
    EXPECT_TRUE(large(begin(mb)));
}

TEST_F(PolicyTest, UtcbsBelongToWhatATagHasToCover) {
    Actor& a = make(0);
    a.space.utcb_area = Fpage::memory(8 * mb, 12);
    EXPECT_EQ(slots::needed(a.space), 8 * mb + page_size);
}

TEST_F(PolicyTest, NothingIsGivenWithoutTheOption) {
    port.places = {{mb, false}};
    slots::rules.automatic = false;
    Actor &a = begin(), &b = begin();
    for (int i = 0; i < 20; ++i) talk(a, b, 100), look_at_all();
    EXPECT_TRUE(large(a) && large(b));
}

TEST_F(PolicyTest, WhoGrowsGetsALongerPlaceOrNone) {
    port.places = {{mb, false}, {4 * mb, false}};
    Actor& a = begin();
    slots::outgrow(a.space, 2 * mb);
    EXPECT_EQ(slots::slot_limit(a.space), 4 * mb);
    slots::outgrow(a.space);
    EXPECT_TRUE(large(a)) << "there is none of 8 MB";
    Actor& b = begin();
    slots::outgrow(b.space, 0xbfffffff);
    EXPECT_TRUE(large(b)) << "that no slot can hold";
}

TEST_F(PolicyTest, WhoSleepsGivesWayToWhoTalks) {
    port.places = {{mb, false}};
    Actor &sleeper = begin(), &a = begin(), &b = begin();
    for (int i = 0; i < 8; ++i) talk(a, b, 100), look_at_all();
    EXPECT_TRUE(large(sleeper));
    EXPECT_TRUE(exclusive(a) || exclusive(b));
}

TEST_F(PolicyTest, WhoIsReadyToRunDoesNot) {
    port.places = {{mb, false}};
    slots::rules.groups = false;
    Actor &busy = begin(), &a = begin(), &b = begin();
    busy.set_ready(true);
    talk(busy, b, 100);
    for (int i = 0; i < 3; ++i) talk(a, b, 20), look_at_all();
    EXPECT_TRUE(exclusive(busy));
    EXPECT_TRUE(large(a) && large(b));
}

TEST_F(PolicyTest, APinnedOneIsLeftAlone) {
    port.places = {{mb, true}};
    Actor &pinned = begin(), &a = begin(), &b = begin();
    slots::of(pinned.space).pinned = true;
    slots::of(b.space).pinned = true;
    for (int i = 0; i < 40; ++i) talk(a, b, 100), look_at_all();
    EXPECT_TRUE(exclusive(pinned));
    EXPECT_TRUE(large(a) && large(b));
}

TEST_F(PolicyTest, TwoThatTalkShareAHostIfThereIsNoPlaceInAll) {
    port.places = {{mb, true}};
    Actor &a = begin(), &b = begin(), &c = begin(), &d = begin();
    for (int i = 0; i < 20; ++i) talk(a, b, 100), talk(c, d, 100), look_at_all();
    EXPECT_EQ(host(a), host(b));
    EXPECT_EQ(host(c), host(d));
    EXPECT_TRUE(large(a) != large(b) && large(c) != large(d)) << "one of them leads";
}

TEST_F(PolicyTest, ALeaderGivesUpAGroupOfStrangers) {
    port.places = {{mb, true}};
    Actor &stranger = make(), &leader = make(), &partner = make();
    ASSERT_TRUE(slots::give_slot(stranger.space, mb, &leader.space));
    stranger.set_ready(true);
    for (int i = 0; i < 20; ++i) talk(leader, partner, 100), look_at_all();
    EXPECT_EQ(host(leader), host(partner));
}

TEST_F(PolicyTest, WhoSleepsInAHostGivesWayThere) {
    port.places = {{mb, true}, {mb, true}, {mb, true}};
    Actor &leader = make(), &sleeper = make(), &friend1 = make(), &friend2 = make(), &late = make();
    for (Actor* a : {&sleeper, &friend1, &friend2}) slots::give_slot(a->space, mb, &leader.space);
    for (int i = 0; i < 20; ++i) {
        for (Actor* a : {&late, &friend1, &friend2}) talk(leader, *a, 100);
        look_at_all();
    }
    EXPECT_FALSE(large(late));
    EXPECT_TRUE(large(sleeper));
}

TEST_F(PolicyTest, AMemberWhoseLastThreadIsGoneIsAStranger) {
    port.places = {{mb, true}};
    Actor &dying = make(), &leader = make(), &partner = make();
    ASSERT_TRUE(slots::give_slot(dying.space, mb, &leader.space));
    dying.space.members.remove(dying.thread);
    for (int i = 0; i < 20; ++i) talk(leader, partner, 100), look_at_all();
    EXPECT_EQ(host(leader), host(partner));
}

// Four places in each host, one of which the hub may have got, and one that is for all hosts only.
struct Turn {
    unsigned seed;
    int items;
};
class Groups : public PolicyTest, public testing::WithParamInterface<Turn> {};

TEST_P(Groups, FormAmongThoseWhoTalkToEachOtherAndEverybodysPartnerIsInAll) {
    constexpr std::size_t groups = 5, size = 3;
    constexpr int items = 1000000, switches_a_tick = 500;
    std::mt19937 random(GetParam().seed);
    port.places = {{mb, true}, {mb, true}, {mb, true}, {mb, true}, {mb, false}};
    std::vector<Actor*> member;
    for (std::size_t i = 0; i < groups * size; ++i) member.push_back(&begin());
    Actor& server = begin();
    auto call = [&](Actor& from, Actor& to) {
        port.switch_to(from, to);
        if (random() % switches_a_tick == 0) slots::look();
    };
    std::size_t first = 0;
    for (int item = 0; item < items; ++item) {
        if (item % GetParam().items == 0) first = random() % groups * size;
        Actor &a = *member[first], &b = *member[first + 1 + random() % (size - 1)];
        call(a, server), call(server, a), call(a, b), call(b, server), call(server, b), call(b, a);
    }
    EXPECT_TRUE(exclusive(server));
    for (std::size_t group = 0; group < groups; ++group)
        EXPECT_LE(hosts({&member[group * size], size}).size(), 1u) << "group " << group;
}
INSTANTIATE_TEST_SUITE_P(SeedsAndTurns, Groups,
    testing::Values(Turn{1995, 10}, Turn{2002, 64}, Turn{20021, 64}, Turn{1995, 1000}, Turn{2002, 1000},
        Turn{20021, 1000}),
    [](auto& info) { return std::to_string(info.param.seed) + "_" + std::to_string(info.param.items); });

// The hub leads a large group: that is given up for a place in all hosts, a part of it at each tick of the clock.
struct LargeGroup : PolicyTest {
    static constexpr Word size = 30, at_once = 1;

    LargeGroup() {
        port.places.assign(size, {mb, true});
        port.places.push_back({mb, false});
        server = &make();
        sleeper = &make();
        for (Word i = 0; i < size; ++i) {
            clients.push_back(&make());
            slots::give_slot(clients[i]->space, mb, &server->space);
        }
        slots::give_slot(sleeper->space, mb, nullptr);
    }
    // How many have lost their tags at a tick.
    Word tick() {
        std::ranges::rotate(clients, clients.begin() + 1);
        for (Actor* c : clients) talk(*c, *server);
        Word before = members();
        port.events.clear();
        slots::look();
        for (auto& e : port.events)
            EXPECT_FALSE(e.given && e.held.leader == &server->space && before < size) << "it is being given up";
        return before - members();
    }
    Word members() {
        return static_cast<Word>(std::ranges::count_if(clients,
            [&](Actor* c) { return slots::of(c->space).leader == &server->space; }));
    }

    Actor *server, *sleeper;
    std::vector<Actor*> clients;
};

TEST_F(LargeGroup, IsGivenUpInParts) {
    Word parts = 0;
    for (int ticks = 0; ticks < 1000 && !exclusive(*server); ++ticks) {
        Word left = tick();
        EXPECT_LE(left, at_once);
        parts += left != 0;
    }
    EXPECT_TRUE(exclusive(*server));
    EXPECT_EQ(parts, (size + at_once - 1) / at_once);
}

TEST_F(LargeGroup, StaysWithAPinnedMember) {
    slots::of(clients[size - 1]->space).pinned = true;
    for (int ticks = 0; ticks < 1000; ++ticks) ASSERT_EQ(tick(), 0u);
}

TEST_F(LargeGroup, ALeaderThatIsAskedToBeLargeMeanwhileStaysLarge) {
    for (int ticks = 0; ticks < 1000 && !tick(); ++ticks) {}
    ASSERT_EQ(members(), size - at_once);
    slots::of(server->space).pinned = true;
    for (int ticks = 0; ticks < 100; ++ticks) tick();
    EXPECT_TRUE(large(*server));
}

TEST_F(LargeGroup, ItsLeaderCanGoMeanwhile) {
    for (int ticks = 0; ticks < 1000 && !tick(); ++ticks) {}
    ASSERT_EQ(members(), size - at_once);
    std::erase_if(actors, [&](auto& a) { return a.get() == server; });
    for (int ticks = 0; ticks < 100; ++ticks) {
        talk(*clients[0], *clients[1], 100);
        slots::look();
    }
}

// A space that needs more than there is asks for the group of a leader that sleeps to be given up: while the leader
// goes, but not when it has gone.
TEST_F(PolicyTest, ALeaderThatGoesIsKnownAsLongAsItHasMembers) {
    constexpr int members = 3, many_ticks = 12;
    for (int ticks = 0; ticks < many_ticks; ++ticks) {
        actors.clear();
        port.places.assign(members, {mb, true});
        Actor &leader = make(), &late = make(2 * mb);
        Actor* last = nullptr;
        for (int i = 0; i < members; ++i) slots::give_slot((last = &make())->space, mb, &leader.space);
        auto look = [&](int times) {
            for (int i = 0; i < times; ++i) talk(late, *last, 100), slots::look();
        };
        while (!slots::retire(leader.space))
            if (slots::of(leader.space).group.front() == &last->space) look(ticks);
        EXPECT_TRUE(large(leader) && slots::of(leader.space).group.empty());
        std::erase_if(actors, [&](auto& a) { return a.get() == &leader; });
        look(many_ticks);
    }
}

// A search takes thousands of instructions, with interrupts off.
TEST_F(PolicyTest, OneSpaceSeeksATagAtATick) {
    std::vector<Actor*> all;
    for (int i = 0; i < 8; ++i) all.push_back(&begin());
    port.places.assign(8, {mb, true});
    for (int ticks = 0; ticks < 40; ++ticks) {
        for (std::size_t i = 0; i < all.size(); i += 2) talk(*all[i], *all[i + 1], 100);
        port.events.clear();
        slots::look();
        EXPECT_LE(port.events.size(), 1u) << "tick " << ticks;
    }
    for (const Actor* a : all) EXPECT_TRUE(exclusive(*a));
}

TEST_F(PolicyTest, NoGroupsFormWithoutTheOption) {
    port.places = {{mb, true}};
    slots::rules.groups = false;
    std::vector<Actor*> all;
    for (int i = 0; i < 6; ++i) all.push_back(&begin());
    for (int i = 0; i < 200; ++i) talk(*all[i % 3 * 2], *all[i % 3 * 2 + 1], 50), look_at_all();
    for (Actor* a : all) EXPECT_EQ(slots::of(a->space).leader, nullptr);
}

}  // namespace
