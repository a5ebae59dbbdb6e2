// SPDX-License-Identifier: BSD-2-Clause
// The database of I/O ports, against a model that keeps for each port and space which space it has it from.
#include "ia32/ports.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "fake_port.hpp"

namespace {

std::set<const Space*> losers;

}  // namespace

void ports::lost(const Space& space) { losers.insert(&space); }

namespace {

using ports::Range;

constexpr Word spaces_count = 5, none = 99, root = 98;

Word each = mappings::between_points;           // the budget of a part

// As users of the kernel see them: what is done a part at a time is done.
bool transfer_all(Space& from, Range range, Space& to, bool grant) {
    for (Word budget; !range.empty();)
        if (!ports::transfer(from, range, to, grant, budget = each)) return false;
    return true;
}
void take_all(Space& space, Range range, bool flush) {
    for (Word budget = each; !ports::take(space, range, flush, budget); budget = each) {}
}

// By port: from which space each space has it.
struct Model {
    std::array<std::array<Word, ports::count>, spaces_count> source;

    Model() {
        for (auto& s : source) s.fill(none);
        source[0].fill(root);
    }
    void transfer(Word from, Range r, Word to, bool grant) {
        for (Word p = r.first; p <= r.last && from != to; ++p) {
            if (source[from][p] == none || source[to][p] != none) continue;
            source[to][p] = grant ? source[from][p] : from;
            if (!grant) continue;
            source[from][p] = none;
            for (auto& s : source)
                if (s[p] == from) s[p] = to;
        }
    }
    void take_port(Word space, Word p, bool flush) {
        for (Word s = 0; s < spaces_count; ++s)
            if (source[s][p] == space) take_port(s, p, true);
        if (flush) source[space][p] = none;
    }
};

struct Ports : testing::Test {
    std::array<Space, spaces_count> spaces{};

    Ports() {
        fake::pages_left = -1;
        EXPECT_TRUE(ports::give_all(spaces[0]));
    }
    ~Ports() override {
        each = mappings::between_points;
        for (Space& s : spaces) take_all(s, ports::all, true);
        fake::pages_left = -1;
    }
    Word held(Word space) {
        Word n = 0;
        for (Word p = 0; p < ports::count; ++p) n += ports::held(spaces[space], {p, p});
        return n;
    }
};

TEST_F(Ports, FpagesNameAlignedRanges) {
    EXPECT_EQ(ports::range_of({0x4020}).last, 0xffffu);
    EXPECT_EQ(ports::range_of({0x00800020}).first, 0x80u);
    EXPECT_EQ(ports::range_of({0x00800020}).last, 0x80u);
    EXPECT_EQ(ports::range_of({0x03f90c20}).first, 0x3f8u);     // cut down to its alignment
    EXPECT_EQ(ports::range_of({0x03f90c20}).last, 0x3ffu);
    EXPECT_TRUE(ports::range_of({17 << 10 | 0x20}).empty());
}

TEST_F(Ports, OnlyWhatIsHeldIsMapped) {
    EXPECT_TRUE(transfer_all(spaces[0], {0x60, 0x67}, spaces[1], false));
    EXPECT_TRUE(transfer_all(spaces[1], {0x60, 0x6f}, spaces[2], false));
    EXPECT_EQ(held(2), 8u);
    EXPECT_TRUE(ports::held(spaces[2], {0x60, 0x67}));
    EXPECT_FALSE(ports::held(spaces[2], {0x60, 0x68}));
    EXPECT_FALSE(ports::held(spaces[2], {0x5f, 0x60}));
}

TEST_F(Ports, WhoLosesIsTold) {
    EXPECT_TRUE(transfer_all(spaces[0], {0, 15}, spaces[1], false));
    EXPECT_TRUE(transfer_all(spaces[1], {0, 15}, spaces[2], true));
    EXPECT_TRUE(losers.contains(&spaces[1]));
    losers.clear();
    take_all(spaces[0], {3, 4}, false);
    EXPECT_TRUE(losers.contains(&spaces[2]));
    EXPECT_FALSE(losers.contains(&spaces[0]));
    EXPECT_EQ(held(2), 14u);
}

TEST_F(Ports, WithoutMemoryNothingIsGainedAndEnoughIsLost) {
    fake::pages_left = 0;
    while (transfer_all(spaces[0], {0x100, 0x1ff}, spaces[1], false) && ports::give_all(spaces[2])) {}
    take_all(spaces[1], ports::all, true);
    fake::pages_left = -1;
    EXPECT_TRUE(transfer_all(spaces[0], {0x100, 0x1ff}, spaces[1], false));
    fake::pages_left = 0;
    while (ports::give_all(spaces[2])) {}
    take_all(spaces[0], {0x180, 0x180}, false);
    EXPECT_FALSE(ports::held(spaces[1], {0x180, 0x180}));
}

TEST_F(Ports, SomebodyElsesFpagesCutNothing) {
    EXPECT_TRUE(transfer_all(spaces[0], {0x100, 0x1ff}, spaces[1], false));
    EXPECT_TRUE(transfer_all(spaces[0], {0x200, 0x2ff}, spaces[2], false));
    EXPECT_TRUE(transfer_all(spaces[1], {0x180, 0x1ff}, spaces[3], false));
    fake::pages_left = 0;
    while (ports::give_all(spaces[4])) {}
    take_all(spaces[2], {0x123, 0x1a5}, true);
    EXPECT_TRUE(ports::held(spaces[1], {0x100, 0x1ff}));
    EXPECT_TRUE(ports::held(spaces[3], {0x180, 0x1ff}));
    take_all(spaces[3], {0x1a0, 0x1a0}, true);
    EXPECT_TRUE(ports::held(spaces[1], {0x100, 0x1ff}));
}

TEST_F(Ports, AgreesWithTheModel) {
    Model model;
    std::mt19937 random(7);
    auto below = [&](Word n) { return std::uniform_int_distribution<Word>(0, n - 1)(random); };
    for (int step = 0; step < 400; ++step) {
        each = 1 + below(3);
        Word log2 = below(7), first = below(256) & ~((1u << log2) - 1), a = below(spaces_count),
             b = below(spaces_count);
        Range range{first, first + (1u << log2) - 1};
        switch (below(4)) {
        case 0:
        case 1:
            model.transfer(a, range, b, false);
            EXPECT_TRUE(transfer_all(spaces[a], range, spaces[b], false));
            break;
        case 2:
            model.transfer(a, range, b, true);
            EXPECT_TRUE(transfer_all(spaces[a], range, spaces[b], true));
            break;
        default: {
            bool flush = a && below(2);
            for (Word p = range.first; p <= range.last; ++p) model.take_port(a, p, flush);
            take_all(spaces[a], range, flush);
        }
        }
        for (Word s = 0; s < spaces_count; ++s)
            for (Word p = 0; p < 264; ++p)
                ASSERT_EQ(ports::held(spaces[s], {p, p}), model.source[s][p] != none)
                    << "step " << step << " space " << s << " port " << p;
    }
}

}  // namespace
