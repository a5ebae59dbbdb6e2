// SPDX-License-Identifier: BSD-2-Clause
// The mapping database, rule by rule. mapping_property.cpp compares it with a brute-force model.
#include "core/mapping.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/space.hpp"
#include "fake_port.hpp"

namespace {

constexpr Word kb4 = 12;

struct MappingTest : testing::Test {
    MappingTest() {
        for (int i = 0; i < 4; ++i) space.push_back(std::make_unique<Space>());
        space[0]->idempotent = true;
    }
    ~MappingTest() override {
        mappings::abandon(sweep);
        for (auto i = space.rbegin(); i != space.rend(); ++i)
            unmap_whole(**i, Fpage::complete().with_rights(rights_all), true);
    }
    Space& operator[](int i) { return *space[i]; }
    bool present(int s, VAddr page) { return paging::get(*space[s], page).present; }
    bool writable(int s, VAddr page) { return paging::get(*space[s], page).writable; }
    PAddr frame(int s, VAddr page) { return paging::get(*space[s], page).frame; }
    // Maps one page.
    bool map(int from, VAddr a, int to, VAddr b, Word rights = rights_all, bool grant = false) {
        return transfer_whole(*space[from], Fpage::memory(a, kb4).with_rights(rights), *space[to], Fpage::complete(), b,
            grant);
    }
    Word unmap(int s, VAddr page, Word rights = rights_all, bool flush = false) {
        return unmap_whole(*space[s], Fpage::memory(page, kb4).with_rights(rights), flush);
    }
    bool unmap_part(int s, Fpage fpage, bool flush, VAddr& at, Word& status, Word budget) {
        return mappings::unmap(*space[s], fpage, flush, at, status, sweep, budget);
    }
    void touch(int s, VAddr page, Word status) { space[s]->arch.pages.at(page).status |= status; }
    void expect_consistent() {
        Word count = 0;
        for (auto& s : space) EXPECT_TRUE(mappings::consistent(*s, count));
        EXPECT_EQ(count, mappings::in_use());
    }
    std::vector<std::unique_ptr<Space>> space;
    mappings::Sweep sweep{};
};

TEST_F(MappingTest, AttributesReachWhatIsDerivedThenAndLater) {
    auto attribute = [&](int s, VAddr page) { return paging::get(*space[s], page).attribute; };
    ASSERT_TRUE(map(0, 0x400000, 1, 0x10000) && map(1, 0x10000, 2, 0x20000) && map(0, 0x401000, 1, 0x11000));
    set_attribute(*space[1], Fpage::memory(0x10000, kb4), 0x18);
    EXPECT_EQ(attribute(1, 0x10000), 0x18u);
    EXPECT_EQ(attribute(2, 0x20000), 0x18u);
    EXPECT_EQ(attribute(0, 0x400000), 0u);      // the space it came from
    EXPECT_EQ(attribute(1, 0x11000), 0u);       // its neighbour
    ASSERT_TRUE(map(1, 0x10000, 3, 0x30000) && map(2, 0x20000, 3, 0x31000, rights_all, true));
    EXPECT_EQ(attribute(3, 0x30000), 0x18u);
    EXPECT_EQ(attribute(3, 0x31000), 0x18u);
    set_attribute(*space[1], Fpage::complete(), 0);
    EXPECT_EQ(attribute(1, 0x10000) | attribute(3, 0x30000) | attribute(3, 0x31000), 0u);
    expect_consistent();
}

TEST_F(MappingTest, AttributesAreSetInPartsAndLeaveTheStatusAlone) {
    constexpr Word pages = 40;
    ASSERT_TRUE(map(0, 0x400000, 1, 0x10000));
    for (VAddr n = 0; n < pages; ++n) ASSERT_TRUE(map(1, 0x10000, 2, 0x100000 + n * page_size));
    touch(2, 0x110000, paging::accessed | paging::dirty);
    touch(1, 0x10000, paging::accessed);
    // Each part ends where its budget does.
    EXPECT_GE(set_attribute(*space[1], Fpage::memory(0x10000, kb4), 0x18, 8), pages / 8);
    EXPECT_EQ(paging::get(*space[1], 0x10000).attribute, 0x18u);
    for (VAddr n = 0; n < pages; ++n) EXPECT_EQ(paging::get(*space[2], 0x100000 + n * page_size).attribute, 0x18u) << n;
    EXPECT_EQ(unmap(1, 0x10000, 0), Word{rights_all});
    // Sigma0's come into being for it, some at a time; what it could not have is left out.
    EXPECT_GE(set_attribute(*space[0], Fpage::memory(0x800000, 18), 0x18, 16), 64 * 2 / 16u);
    for (VAddr page = 0x800000; page < 0x840000; page += page_size) {
        EXPECT_TRUE(present(0, page));
        EXPECT_EQ(paging::get(*space[0], page).attribute, 0x18u);
    }
    expect_consistent();
}

TEST_F(MappingTest, Sigma0OwnsAllMemoryIdempotently) {
    EXPECT_TRUE(map(0, 0x5000, 1, 0x9000));
    EXPECT_TRUE(present(0, 0x5000));
    EXPECT_EQ(frame(0, 0x5000), 0x5000u);
    EXPECT_EQ(frame(1, 0x9000), 0x5000u);
    EXPECT_TRUE(writable(1, 0x9000));
}

TEST_F(MappingTest, NobodyGetsTheKernelsFrames) {
    map(0, 0x100000, 1, 0x9000);
    EXPECT_FALSE(present(0, 0x100000));
    EXPECT_FALSE(present(1, 0x9000));
}

TEST_F(MappingTest, RightsAreThoseOfTheItemAndOfTheMapper) {
    map(0, 0x5000, 1, 0x5000, right_read);
    EXPECT_FALSE(writable(1, 0x5000));
    map(1, 0x5000, 2, 0x5000, rights_all);
    EXPECT_FALSE(writable(2, 0x5000));
    map(0, 0x6000, 1, 0x6000, 0);
    EXPECT_FALSE(present(1, 0x6000));
}

TEST_F(MappingTest, MappingTheSameAgainOnlyExtendsRights) {
    map(0, 0x5000, 1, 0x5000, right_read);
    map(1, 0x5000, 2, 0x7000);
    map(0, 0x5000, 1, 0x5000, rights_all);
    EXPECT_TRUE(writable(1, 0x5000));
    EXPECT_FALSE(writable(2, 0x7000)) << "rights do not spread by themselves";
    EXPECT_TRUE(present(2, 0x7000));
    map(0, 0x5000, 1, 0x5000, right_read);
    EXPECT_TRUE(writable(1, 0x5000)) << "mapping takes no rights away";
}

TEST_F(MappingTest, AnotherMappingAtTheTargetGivesWayWithAllThatIsDerived) {
    map(0, 0x5000, 1, 0x5000);
    map(1, 0x5000, 2, 0x5000);
    map(0, 0x6000, 1, 0x5000);
    EXPECT_EQ(frame(1, 0x5000), 0x6000u);
    EXPECT_FALSE(present(2, 0x5000));
    expect_consistent();
}

TEST_F(MappingTest, MappingBackOverTheAncestorTakesTheSourceAwayFirst) {
    map(0, 0x5000, 1, 0x5000);
    map(1, 0x5000, 2, 0x5000);
    map(2, 0x5000, 1, 0x5000);
    EXPECT_FALSE(present(2, 0x5000));
    EXPECT_FALSE(present(1, 0x5000));
    expect_consistent();
}

TEST_F(MappingTest, GrantMovesThePlaceInTheTree) {
    map(0, 0x5000, 1, 0x5000);
    map(1, 0x5000, 2, 0x5000);
    map(1, 0x5000, 3, 0x8000, rights_all, true);
    EXPECT_FALSE(present(1, 0x5000));
    EXPECT_EQ(frame(3, 0x8000), 0x5000u);
    EXPECT_TRUE(present(2, 0x5000)) << "what was derived stays";
    unmap(3, 0x8000);
    EXPECT_FALSE(present(2, 0x5000)) << "and now hangs on the new owner";
    EXPECT_TRUE(present(3, 0x8000));
    expect_consistent();
}

TEST_F(MappingTest, UnmapReachesAllGenerationsAndFlushTheOwnerToo) {
    map(0, 0x5000, 1, 0x5000);
    map(1, 0x5000, 2, 0x6000);
    map(2, 0x6000, 3, 0x7000);
    unmap(1, 0x5000);
    EXPECT_TRUE(present(1, 0x5000));
    EXPECT_FALSE(present(2, 0x6000));
    EXPECT_FALSE(present(3, 0x7000));
    unmap(1, 0x5000, rights_all, true);
    EXPECT_FALSE(present(1, 0x5000));
    EXPECT_TRUE(present(0, 0x5000));
}

TEST_F(MappingTest, RevokingWriteLeavesReading) {
    map(0, 0x5000, 1, 0x5000);
    map(1, 0x5000, 2, 0x6000);
    unmap(1, 0x5000, right_write);
    EXPECT_TRUE(writable(1, 0x5000));
    EXPECT_TRUE(present(2, 0x6000));
    EXPECT_FALSE(writable(2, 0x6000));
    unmap(1, 0x5000, right_write, true);
    EXPECT_FALSE(writable(1, 0x5000));
    unmap(1, 0x5000, right_read);
    EXPECT_TRUE(present(2, 0x6000)) << "reading alone cannot be revoked on this processor";
}

TEST_F(MappingTest, StatusIncludesDerivedAndRemovedMappingsAndIsReset) {
    map(0, 0x5000, 1, 0x5000);
    map(1, 0x5000, 2, 0x6000);
    touch(2, 0x6000, paging::accessed);
    EXPECT_EQ(unmap(1, 0x5000, 0), Word{right_read | right_execute});
    EXPECT_EQ(unmap(1, 0x5000, 0), 0u);
    touch(2, 0x6000, paging::accessed | paging::dirty);
    unmap(2, 0x6000, rights_all, true);
    EXPECT_EQ(unmap(1, 0x5000, 0), Word{rights_all}) << "each mapper has a status of its own";
    EXPECT_EQ(unmap(1, 0x5000, 0), 0u);
    map(1, 0x5000, 2, 0x6000);
    touch(2, 0x6000, paging::dirty);
    map(0, 0x7000, 2, 0x6000);     // pushes the old mapping out
    EXPECT_EQ(unmap(1, 0x5000, 0), Word{right_write}) << "what a removed child did is remembered";
}

TEST_F(MappingTest, ResettingIsNotRecursive) {
    map(0, 0x5000, 1, 0x5000);
    map(1, 0x5000, 2, 0x6000);
    map(2, 0x6000, 3, 0x7000);
    touch(3, 0x7000, paging::dirty);
    EXPECT_EQ(unmap(1, 0x5000, 0), Word{right_write});
    EXPECT_EQ(unmap(2, 0x6000, 0), Word{right_write});
    EXPECT_EQ(unmap(3, 0x7000, 0), Word{right_write});
    EXPECT_EQ(unmap(1, 0x5000, 0), 0u);
}

TEST_F(MappingTest, StatusIsWholeWhereAPartOfAnUnmapEnds) {
    constexpr Word one_mapping = 1;
    map(0, 0x5000, 1, 0x5000);
    map(1, 0x5000, 2, 0x6000);
    map(2, 0x6000, 3, 0x7000);
    touch(3, 0x7000, paging::accessed | paging::dirty);
    VAddr at = 0x5000;
    Word status = 0;
    ASSERT_FALSE(unmap_part(1, Fpage::memory(0x5000, kb4).with_rights(rights_all), false, at, status, one_mapping));
    ASSERT_TRUE(present(2, 0x6000) && !present(3, 0x7000));
    EXPECT_EQ(unmap(2, 0x6000, 0), Word{rights_all}) << "what has been removed so far is remembered by who mapped it";
    EXPECT_EQ(unmap(1, 0x5000, 0), Word{rights_all});
    expect_consistent();
}

constexpr Word many = 2000;

TEST_F(MappingTest, TheWayToTheParentCostsNothingForItsOtherChildren) {
    for (VAddr page = 0x100000; page < 0x102000; page += page_size) map(0, 0x5000, 1, page);
    for (Word n = 0; n < many; ++n) map(0, 0x5000, 3, 0x400000 + n * page_size);
    VAddr at = 0x100000;
    Word status = 0, budget = 7;
    touch(1, 0x101000, paging::dirty);
    EXPECT_TRUE(mappings::unmap(*space[1], Fpage::memory(at, 13).with_rights(rights_all), true, at, status, sweep,
        budget));
    EXPECT_EQ(budget, 1u);
    EXPECT_EQ(unmap(0, 0x5000, 0), Word{right_write});
    // What gives way to a new mapping has a parent, too.
    map(0, 0x6000, 2, 0x6000), map(0, 0x7000, 2, 0x7000), map(0, 0x5000, 1, 0x102000);
    for (Word n = 0; n < many; ++n) map(0, 0x5000, 3, 0x400000 + n * page_size);
    mappings::Progress progress{};
    auto send = Fpage::memory(0x6000, 13).with_rights(rights_all), window = Fpage::memory(0x102000, 13);
    EXPECT_EQ(mappings::transfer(*space[2], send, *space[1], window, 0, false, progress, budget = 10),
        mappings::Mapped::all);
    EXPECT_EQ(budget, 1u);
}

TEST_F(MappingTest, PlainPagesAreAsManyAsThereMayBe) {
    for (Word n = 0; n < 8; ++n) map(0, 0x5000, 1, n * page_size);
    space[2]->kip_area = Fpage::memory(0x403000, 12);
    map(0, 0x6000, 2, 0x400000);        // which makes the others a table, and is there
    auto send = [](Word rights) { return Fpage::memory(0, 15).with_rights(rights); };
    auto transfer = [&](Fpage what, VAddr target) {
        mappings::Progress progress{};
        Word budget = mappings::between_points;
        return mappings::transfer(*space[1], what, *space[2], Fpage::memory(target, 15), 0, false, progress, budget);
    };
    const Word used = space[2]->account.used;
    EXPECT_EQ(transfer(send(0), 0x408000), mappings::Mapped::all);
    EXPECT_EQ(space[2]->account.used, used);
    space[2]->account.limit = used + 5 * sizeof(Mapping);
    EXPECT_EQ(transfer(send(right_read), 0x400000), mappings::Mapped::no_memory);
    for (Word n = 0; n < 8; ++n) EXPECT_EQ(present(2, 0x400000 + n * page_size), n != 3 && n != 7) << n;
    EXPECT_FALSE(writable(2, 0x401000));
    EXPECT_EQ(space[2]->account.used, space[2]->account.limit);
    space[2]->account.limit = 0;
    EXPECT_EQ(transfer(send(rights_all), 0x400000), mappings::Mapped::all);
    EXPECT_TRUE(writable(2, 0x401000) && present(2, 0x407000) && !present(2, 0x403000));
    EXPECT_EQ(space[2]->account.used, used + 6 * sizeof(Mapping));
    expect_consistent();
}

TEST_F(MappingTest, TheWayUpADeepTreeIsPaid) {
    VAddr page = 0;
    map(0, 0x5000, 1, page);
    for (Word depth = 0; depth < 320; ++depth, page += page_size)
        map(1, page, 1 + 1, page), map(2, page, 1, page + page_size);
    constexpr VAddr wide = 0x1000000;
    for (VAddr leaf = wide; leaf < wide + 16 * page_size; leaf += page_size)
        map(1, 200 * page_size, 3, leaf), touch(3, leaf, paging::dirty);
    VAddr at = wide;
    Word status = 0, budget = mappings::between_points;
    EXPECT_FALSE(mappings::unmap(*space[3], Fpage::memory(at, 16).with_rights(rights_all), true, at, status, sweep,
        budget));
    EXPECT_LE(at, wide + 4 * page_size);
}

// A walk over 2,000 mappings, a budget's worth at a time, is as long as one in one go.
TEST_F(MappingTest, ASweepGoesOnWhereItWas) {
    map(0, 0x5000, 1, 0x100000);
    for (Word n = 0; n < many; ++n) map(1, 0x100000, 3, 0x400000 + n * page_size);
    touch(3, 0x400000, paging::dirty), touch(3, 0x400000 + (many - 1) * page_size, paging::accessed);
    VAddr at = 0x100000;
    Word status = 0, parts = 1, budget;
    for (; !mappings::unmap(*space[1], Fpage::memory(at, kb4).with_rights(right_write), false, at, status, sweep,
             budget = 50);
        ++parts) {}
    expect_consistent();
    EXPECT_EQ(parts, many / 50);
    EXPECT_EQ(status, paging::accessed | paging::dirty);
    for (Word n = 0; n < many; ++n) EXPECT_FALSE(writable(3, 0x400000 + n * page_size));
}

TEST_F(MappingTest, ASweepSurvivesWhatItWouldVisitNext) {
    map(0, 0x5000, 1, 0x100000);
    for (Word n = 0; n < 8; ++n) map(1, 0x100000, 2, n * page_size), map(2, n * page_size, 3, n * page_size);
    VAddr at = 0x100000;
    Word status = 0;
    ASSERT_FALSE(unmap_part(1, Fpage::memory(at, kb4).with_rights(right_write), false, at, status, 3));
    unmap(2, 0x6000, rights_all, true);         // the last one was mapped behind it: 7, 6, ...
    map(2, 0x5000, 1, 0x200000);
    unmap(2, 0x5000, rights_all, true);
    ASSERT_FALSE(unmap_part(1, Fpage::memory(0x100000, kb4).with_rights(right_write), false, at, status, 1));
    EXPECT_FALSE(writable(2, 0x4000));
    EXPECT_TRUE(writable(2, 0x3000));
    // The page itself goes, and comes back: that is another one.
    unmap(1, 0x100000, rights_all, true);
    map(0, 0x5000, 1, 0x100000), map(1, 0x100000, 2, 0x8000);
    EXPECT_TRUE(unmap_part(1, Fpage::memory(0x100000, kb4).with_rights(right_write), false, at, status, 9));
    EXPECT_FALSE(writable(2, 0x8000));
}

// Walks over as many pages of space 1, each with as many derived from it in space 3.
struct Walks {
    static constexpr Word derived = 200, first = 0x1000000;
    struct One {
        VAddr at;
        Word status = 0;
        mappings::Sweep sweep{};
        bool done = false;
    };
    std::vector<std::unique_ptr<One>> all;
    Space& space;

    explicit Walks(Space& s) : space(s) {}
    ~Walks() {
        for (auto& one : all) mappings::abandon(one->sweep);
    }
    bool go_on(Word n, Word budget) {
        One& w = *all[n];
        Fpage page = Fpage::memory(first + n * page_size, kb4).with_rights(right_write);
        return w.done = mappings::unmap(space, page, false, w.at, w.status, w.sweep, budget);
    }
    void begin(Word count) {
        for (Word n = 0; n < count; ++n)
            all.push_back(std::make_unique<One>(One{.at = first + n * page_size})), go_on(n, 50);
    }
};

void make_trees(std::vector<std::unique_ptr<Space>>& space, Word count) {
    for (Word n = 0; n < count; ++n) {
        VAddr page = Walks::first + n * page_size;
        transfer_whole(*space[0], Fpage::memory(page, kb4).with_rights(7), *space[1], Fpage::complete(), page, false);
        for (Word i = 0; i < Walks::derived; ++i)
            transfer_whole(*space[1], Fpage::memory(page, kb4).with_rights(7), *space[3], Fpage::complete(),
                page + (i << 20), false);
    }
}

// Each removal of a mapping that a walk names looks through those that are paused, which are never many.
TEST_F(MappingTest, ARemovalCostsNoMoreForAThousandWalks) {
    constexpr Word walks = 1000, enough = 8;
    map(0, 0x5000, 1, Walks::first);
    for (Word i = 0; i < Walks::derived; ++i) map(1, Walks::first, 3, i * page_size);
    std::vector<std::unique_ptr<Walks::One>> all;
    for (Word n = 0; n < walks; ++n) {
        all.push_back(std::make_unique<Walks::One>(Walks::One{.at = Walks::first}));
        Word budget = 50;
        auto& w = *all.back();
        EXPECT_FALSE(mappings::unmap(*space[1], Fpage::memory(w.at, kb4).with_rights(right_write), false, w.at,
            w.status, w.sweep, budget));
    }
    // The one that they all name.
    VAddr next = (Walks::derived - 1 - 50) * page_size, at = next;
    ASSERT_TRUE(writable(3, next) && !writable(3, next + page_size));
    Word status = 0, budget = 1000;
    EXPECT_TRUE(mappings::unmap(*space[3], Fpage::memory(next, kb4).with_rights(rights_all), true, at, status, sweep,
        budget));
    EXPECT_GE(budget, 1000 - enough) << "in mappings";
    for (auto& w : all) mappings::abandon(w->sweep);
}

TEST_F(MappingTest, ManyWalksTakeTurnsAndAllComeToAnEnd) {
    constexpr Word walks = 60, budget = 50;
    make_trees(space, walks);
    for (Word n = 0; n < walks; ++n) touch(3, Walks::first + n * page_size, paging::dirty);      // the last of each
    Walks w(*space[1]);
    w.begin(walks);
    Word parts = 0, left = walks;
    for (; left && parts < 40 * walks;)
        for (Word n = 0; n < walks; ++n)
            if (!w.all[n]->done) ++parts, left -= w.go_on(n, budget);
    EXPECT_EQ(left, 0u);
    EXPECT_LE(parts, 4 * walks * Walks::derived / budget);
    for (Word n = 0; n < walks; ++n) {
        EXPECT_EQ(w.all[n]->status, paging::dirty) << n;
        for (Word i = 0; i < Walks::derived; ++i) ASSERT_FALSE(writable(3, Walks::first + n * page_size + (i << 20)));
    }
    expect_consistent();
}

// Walks of threads that do not run hold no other up: a later walk finishes one of them.
TEST_F(MappingTest, AWalkWithoutAPlaceFinishesAnothers) {
    constexpr Word walks = 60, budget = 50;
    make_trees(space, walks);
    touch(3, Walks::first, paging::dirty);
    Walks w(*space[1]);
    w.begin(walks);
    Word parts = 0;
    while (!w.go_on(walks - 1, budget)) ++parts;
    EXPECT_LE(parts, 3 * Walks::derived / budget);
    for (Word i = 0; i < Walks::derived; ++i)
        EXPECT_FALSE(writable(3, Walks::first + (walks - 1) * page_size + (i << 20)));
    EXPECT_FALSE(writable(3, Walks::first));
    EXPECT_TRUE(w.go_on(0, 1)) << "another walk has finished it";
    EXPECT_EQ(w.all[0]->status, paging::dirty);
    EXPECT_EQ(unmap(1, Walks::first, 0), 0u) << "reported once";
    expect_consistent();
}

// The page that a walk began at can have been granted away meanwhile: it is its owner's no more.
TEST_F(MappingTest, NobodyFinishesAWalkWhosePageHasBeenGranted) {
    constexpr Word walks = 60, budget = 50;
    make_trees(space, walks);
    Walks w(*space[1]);
    w.begin(walks);
    ASSERT_TRUE(map(1, Walks::first, 2, 0x5000000, rights_all, true));
    touch(2, 0x5000000, paging::dirty);
    touch(3, Walks::first, paging::dirty);
    while (!w.go_on(walks - 1, budget)) {}
    EXPECT_EQ(w.all[0]->at, Walks::first);
    EXPECT_TRUE(w.go_on(0, budget));
    EXPECT_EQ(w.all[0]->status, 0u);
    EXPECT_EQ(unmap(2, 0x5000000, 0), Word{right_write});
    expect_consistent();
}

// The owner of the walk may end before the walk is done: from the grant on no walk names it.
TEST_F(MappingTest, AGrantEndsTheWalksOfItsPage) {
    constexpr Word walks = 3;
    make_trees(space, walks);
    Walks w(*space[1]);
    w.begin(walks);
    for (Word n = 0; n < walks; ++n) ASSERT_TRUE(w.all[n]->sweep.link.queued()) << n;
    ASSERT_TRUE(map(1, Walks::first + page_size, 2, 0x5000000, rights_all, true));
    for (Word n = 0; n < walks; ++n) EXPECT_EQ(w.all[n]->sweep.link.queued(), n != 1) << n;
    for (Word n = 0; n < walks; ++n)
        while (!w.go_on(n, 50)) {}
    EXPECT_TRUE(writable(3, Walks::first + page_size)) << "visited last";
    expect_consistent();
}

// What an Unmap promises holds when it has returned. One that is given up half-way leaves pages with more rights than
// those that they were derived from; the next takes them.
TEST_F(MappingTest, WhatAnAbandonedWalkLeftTheNextOneTakes) {
    map(0, 0x5000, 1, 0x100000), map(1, 0x100000, 2, 0x1000), map(1, 0x100000, 2, 0x2000), map(2, 0x1000, 3, 0x3000);
    VAddr at = 0x100000;
    Word status = 0;
    ASSERT_FALSE(unmap_part(1, Fpage::memory(at, kb4).with_rights(right_write), true, at, status, 1));
    mappings::abandon(sweep);
    EXPECT_FALSE(writable(1, 0x100000) || writable(2, 0x2000));
    EXPECT_TRUE(writable(2, 0x1000) && writable(3, 0x3000));
    expect_consistent();
    map(1, 0x100000, 3, 0x4000), map(2, 0x2000, 3, 0x5000);
    EXPECT_FALSE(writable(3, 0x4000) || writable(3, 0x5000)) << "nobody gets what is gone";
    unmap(1, 0x100000, right_write);
    EXPECT_FALSE(writable(2, 0x1000) || writable(3, 0x3000));
    expect_consistent();
}

// No space gets rights from the page that are being taken from it.
TEST_F(MappingTest, WritingIsTakenFromThePageFirst) {
    map(0, 0x5000, 1, 0x100000), map(1, 0x100000, 2, 0x1000), map(1, 0x100000, 2, 0x2000);
    VAddr at = 0x100000;
    Word status = 0;
    ASSERT_FALSE(unmap_part(1, Fpage::memory(at, kb4).with_rights(right_write), true, at, status, 1));
    map(1, 0x100000, 3, 0x3000);
    EXPECT_TRUE(unmap_part(1, Fpage::memory(0x100000, kb4).with_rights(right_write), true, at, status, 9));
    EXPECT_FALSE(writable(1, 0x100000) || writable(2, 0x1000) || writable(2, 0x2000) || writable(3, 0x3000));
}

TEST_F(MappingTest, SendBasePicksThePartOfTheLargerFpage) {
    // Window smaller: part of the send fpage by the send base.
    for (VAddr p = 0; p < 0x4000; p += 0x1000) map(0, 0x10000 + p, 1, 0x10000 + p);
    transfer_whole((*this)[1], Fpage::memory(0x10000, 14).with_rights(7), (*this)[2], Fpage::memory(0x40000, 12),
        0x2000, false);
    EXPECT_EQ(frame(2, 0x40000), 0x12000u);
    EXPECT_FALSE(present(2, 0x41000));
    // Window larger: placed by the send base.
    transfer_whole((*this)[1], Fpage::memory(0x11000, 12).with_rights(7), (*this)[3], Fpage::memory(0x40000, 14),
        0x3000, false);
    EXPECT_EQ(frame(3, 0x43000), 0x11000u);
}

TEST_F(MappingTest, KernelAreasAreNeitherSourceNorTarget) {
    (*this)[2].kip_area = Fpage::memory(0x40000, 12);
    map(0, 0x5000, 2, 0x40000);
    EXPECT_FALSE(present(2, 0x40000));
}

TEST_F(MappingTest, ProgressTellsHowFarPagesWereMapped) {
    map(0, 0x5000, 1, 0x105000), map(0, 0x6000, 1, 0x10000);
    auto end = [&](Fpage send, Fpage window, Word base) {
        mappings::Progress progress{};
        Word budget = ~Word{0};
        EXPECT_EQ(mappings::transfer(*space[1], send, *space[2], window, base, false, progress, budget),
            mappings::Mapped::all);
        return progress.end;
    };
    Fpage everything = Fpage::complete().with_rights(rights_all);
    EXPECT_EQ(end(Fpage::memory(0x200000, 21).with_rights(rights_all), Fpage::complete(), 0x600000), 0u)
        << "nothing is there";
    EXPECT_EQ(end(everything, Fpage::memory(0x40000, 12), 0x20000), 0u);
    EXPECT_EQ(end(everything, Fpage::complete(), 0), 0x106000u);
    EXPECT_EQ(end(everything, Fpage::complete(), 0), 0u) << "it is there already";
    EXPECT_EQ(end(Fpage::memory(0x105000, 12).with_rights(rights_all), Fpage::complete(), 0x700000), 0x701000u);
}

TEST_F(MappingTest, RunningOutOfMemoryIsReportedAndLosesNothing) {
    while (map(0, 0x5000, 1, 0x5000) && fake::pages_left != 0) {
        fake::pages_left = 0;
        for (VAddr p = 0x200000;; p += 0x1000)
            if (!map(0, 0x5000, 2, p)) break;
    }
    EXPECT_TRUE(present(1, 0x5000));
    expect_consistent();
    fake::pages_left = -1;
    unmap(0, 0x5000);
    EXPECT_FALSE(present(2, 0x200000));
}

TEST_F(MappingTest, AChainCanBeAsDeepAsTheDepthFieldAndNoDeeper) {
    map(0, 0x5000, 1, 0);
    VAddr depth = 0;
    bool good = true;
    while (good && depth < 3000) {
        int from = 1 + static_cast<int>(depth % 2), to = 3 - from;
        good = map(from, depth / 2 * 0x1000, to, (depth + 1) / 2 * 0x1000);
        if (good) ++depth;
    }
    EXPECT_EQ(depth + 1, Mapping::max_depth);
    expect_consistent();
    unmap(0, 0x5000);
    EXPECT_FALSE(present(1, 0));
}

}  // namespace
