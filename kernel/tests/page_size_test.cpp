// SPDX-License-Identifier: BSD-2-Clause
// The mapping database of a port with pages of several sizes: here 4, 8 and 32 KB (arch/paging.hpp).
#include <gtest/gtest.h>

#include <memory>

#include "choices.hpp"
#include "core/mapping.hpp"
#include "core/space.hpp"
#include "fake_port.hpp"

namespace {

constexpr unsigned kb4 = 12, kb8 = 13, kb32 = 15;
constexpr Word parts = 8;               // 4 KB pages in 32 KB

struct PageSizes : testing::Test {
    PageSizes() {
        for (auto& s : space) s = std::make_unique<Space>();
        space[0]->idempotent = true;
    }
    ~PageSizes() override {
        fake::pages_left = -1;
        for (int i = 4; i-- > 0;) unmap_whole(*space[i], Fpage::complete().with_rights(rights_all), true);
    }
    bool map(int from, VAddr a, int to, VAddr b, unsigned log2, Word rights = rights_all, bool grant = false) {
        return transfer_whole(*space[from], Fpage::memory(a, log2).with_rights(rights), *space[to],
            Fpage::memory(b, log2), 0, grant);
    }
    Word unmap(int s, VAddr page, unsigned log2, bool flush, Word rights = rights_all) {
        return unmap_whole(*space[s], Fpage::memory(page, log2).with_rights(rights), flush);
    }
    paging::Page at(int s, VAddr page) { return paging::get(*space[s], page); }
    unsigned log2(int s, VAddr page) { return paging::log2_of(*space[s], page); }
    void expect_nodes(Word wanted) {
        Word count = 0;
        for (auto& s : space) EXPECT_TRUE(mappings::consistent(*s, count));
        EXPECT_EQ(count, mappings::in_use());
        EXPECT_EQ(count, wanted);
    }
    std::unique_ptr<Space> space[4];
};

TEST_F(PageSizes, ALargePageIsOneNode) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, 0x20000, kb32));
    EXPECT_EQ(log2(2, 0x20000), kb32);
    EXPECT_EQ(at(2, 0x25000).frame, 0xd000u);
    expect_nodes(3);
    unmap(0, 0x8000, kb32, false);
    EXPECT_FALSE(at(1, 0x10000).present || at(2, 0x27000).present);
    expect_nodes(1);
}

TEST_F(PageSizes, SizesAreThoseThatBothPlacesAllow) {
    ASSERT_TRUE(transfer_whole(*space[0], Fpage::memory(0x8000, kb32).with_rights(rights_all), *space[1],
        Fpage::memory(0x12000, kb8), 0x6000, false));
    EXPECT_EQ(log2(1, 0x12000), kb8);
    EXPECT_EQ(at(1, 0x12000).frame, 0xe000u);
    // Sigma0 has a smaller page there already.
    ASSERT_TRUE(map(0, 0x8000, 2, 0x10000, kb32));
    EXPECT_EQ(log2(2, 0x10000), kb8);
    // And so has the target.
    ASSERT_TRUE(map(0, 0x20000, 2, 0x11000, kb4) && map(0, 0x20000, 3, 0x10000, kb32) &&
                map(3, 0x10000, 2, 0x10000, kb32));
    EXPECT_EQ(log2(2, 0x10000), kb4);
    EXPECT_EQ(at(2, 0x11000).frame, 0x21000u);
}

TEST_F(PageSizes, APartOfALargePageCanGo) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, 0x20000, kb32) &&
                map(2, 0x22000, 3, 0x32000, kb4));
    ASSERT_TRUE(map(2, 0x23000, 3, 0x33000, kb4) && map(1, 0x12000, 3, 0x1000, kb4));
    unmap(1, 0x13000, kb4, false);
    for (Word i = 0; i < parts; ++i) {
        EXPECT_TRUE(at(1, 0x10000 + (i << kb4)).present);
        EXPECT_EQ(at(2, 0x20000 + (i << kb4)).present, i != 3);
    }
    EXPECT_TRUE(at(3, 0x32000).present);
    EXPECT_FALSE(at(3, 0x33000).present);
    EXPECT_EQ(at(3, 0x1000).frame, 0xa000u);
    // 8 KB pages where nothing was smaller; sigma0's stays as it is.
    EXPECT_EQ(log2(2, 0x26000), kb8);
    EXPECT_EQ(log2(0, 0x8000), kb32);
    unmap(1, 0x12000, kb4, true);
    EXPECT_FALSE(at(1, 0x12000).present || at(2, 0x22000).present || at(3, 0x32000).present || at(3, 0x1000).present);
    EXPECT_TRUE(at(1, 0x13000).present);
    unmap(0, 0x8000, kb32, false);
    expect_nodes(1);
}

TEST_F(PageSizes, APartCanBeGranted) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, 0x20000, kb32));
    ASSERT_TRUE(map(1, 0x14000, 3, 0x30000, kb8, rights_all, true));
    EXPECT_FALSE(at(1, 0x14000).present);
    EXPECT_TRUE(at(1, 0x16000).present);
    EXPECT_EQ(at(3, 0x31000).frame, 0xd000u);
    unmap(3, 0x30000, kb8, false);          // what was derived from the part is derived from its new place
    EXPECT_FALSE(at(2, 0x24000).present);
    EXPECT_TRUE(at(2, 0x26000).present);
}

TEST_F(PageSizes, RightsOfAPartAreItsOwn) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32, right_read) && map(1, 0x10000, 2, 0x20000, kb32));
    ASSERT_TRUE(map(0, 0xa000, 1, 0x12000, kb4, rights_all));
    EXPECT_TRUE(at(1, 0x12000).writable && at(2, 0x22000).present);
    EXPECT_FALSE(at(1, 0x13000).writable || at(1, 0x11000).writable);
    ASSERT_TRUE(map(0, 0x10000, 1, 0x18000, kb32) && map(1, 0x18000, 2, 0x28000, kb32));
    unmap(1, 0x19000, kb4, true, right_write);
    EXPECT_FALSE(at(1, 0x19000).writable || at(2, 0x29000).writable);
    EXPECT_TRUE(at(1, 0x18000).writable && at(2, 0x2a000).writable);
}

TEST_F(PageSizes, EachPartKeepsTheStatus) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32));
    space[1]->arch.pages.at(0x11000).status = paging::accessed | paging::dirty;
    EXPECT_EQ(unmap(1, 0x10000, kb32, false, 0), Word{rights_all});
    EXPECT_EQ(unmap(1, 0x10000, kb32, false, 0), 0u);
    // all of it has been written to, as far as it is known
    EXPECT_EQ(unmap(0, 0xc000, kb4, false, 0), Word{rights_all});
    EXPECT_EQ(unmap(0, 0xd000, kb4, false, 0), Word{rights_all});
    EXPECT_EQ(unmap(0, 0xd000, kb4, false, 0), 0u);
}

// An Unmap whose budget is used up by a page's own status comes back to that page. It may be gone then.
class PageGoneBetweenParts : public PageSizes {
protected:
    // `next`: the page that is the next to be unmapped.
    void pause_at_first_page(VAddr next) {
        ASSERT_TRUE(map(0, 0x8000, 1, 0x1000, kb4) && map(0, 0x9000, 1, next, kb4));
        for (VAddr page : {VAddr{0x1000}, next})
            space[1]->arch.pages.at(page).status = paging::accessed | paging::dirty;
        EXPECT_FALSE(go_on(Fpage::memory(0, 1 + paging::table_log2), 4));
        EXPECT_EQ(unmap_at, 0x1000u);
        unmap(0, 0x8000, kb4, false);
        EXPECT_FALSE(at(1, 0x1000).present);
    }
    bool go_on(Fpage fpage, Word budget) {
        return mappings::unmap(*space[1], fpage.with_rights(right_write), true, unmap_at, status, sweep, budget);
    }
    VAddr unmap_at = 0;
    Word status = 0;
    mappings::Sweep sweep{};
};

TEST_F(PageGoneBetweenParts, TheNextOneIsSeenTo) {
    constexpr VAddr next = VAddr{1} << paging::table_log2;
    pause_at_first_page(next);
    Fpage both = Fpage::memory(0, 1 + paging::table_log2);
    EXPECT_FALSE(go_on(both, mappings::between_points));        // all of it for what is empty now
    EXPECT_EQ(unmap_at, next);
    while (!go_on(both, mappings::between_points)) {}
    EXPECT_FALSE(at(1, next).writable);
    EXPECT_EQ(mappings::as_rights(status), Word{rights_all});
}

TEST_F(PageGoneBetweenParts, TheNextFpageIsSeenTo) {
    pause_at_first_page(0x3000);
    EXPECT_TRUE(go_on(Fpage::memory(0x1000, kb4), mappings::between_points));
    unmap_at = 0x3000;
    while (!go_on(Fpage::memory(0x3000, kb4), mappings::between_points)) {}
    EXPECT_FALSE(at(1, 0x3000).writable);
    EXPECT_EQ(mappings::as_rights(status), Word{rights_all});
}

TEST_F(PageSizes, AttributesOfAPart) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, 0x20000, kb32));
    set_attribute(*space[1], Fpage::memory(0x12000, kb4), 0x18);
    EXPECT_EQ(at(1, 0x12000).attribute & at(2, 0x22000).attribute, 0x18u);
    EXPECT_EQ(at(1, 0x13000).attribute | at(2, 0x23000).attribute | at(0, 0xa000).attribute, 0u);
    // Sigma0 gets large pages for it.
    set_attribute(*space[0], Fpage::memory(0x20000, 17), 0x18);
    EXPECT_EQ(log2(0, 0x28000), kb32);
}

// More goes than was asked for, rather than less.
TEST_F(PageSizes, WithoutMemoryAllIsTaken) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, 0x20000, kb32));
    // What is left of the pool's page.
    VAddr more = 0x400000;
    fake::pages_left = 0;
    while (map(0, more, 3, more, kb4)) more += page_size;
    EXPECT_FALSE(map(1, 0x11000, 3, 0x1000, kb4, rights_all, true));
    EXPECT_EQ(log2(1, 0x11000), kb32);
    unmap(1, 0x11000, kb4, false);
    for (Word i = 0; i < parts; ++i) EXPECT_FALSE(at(2, 0x20000 + (i << kb4)).present);
    EXPECT_TRUE(at(1, 0x11000).present);
    Word count = 0;
    for (auto& s : space) EXPECT_TRUE(mappings::consistent(*s, count));
}

// However many spaces have a large page, and however many parts of it: a split takes along few, in a part of its own.
class WidelyShared : public PageSizes {
protected:
    // In parts, each as from one preemption point to the next.
    template <typename F> void in_parts(F part) {
        Word budget;
        do {
            fake::sizes_asked = fake::splits = 0;
            budget = mappings::between_points;
        } while (!part(budget) && --most_parts);
        EXPECT_GT(most_parts, 0);
    }
    void judge_part() {
        EXPECT_LE(fake::splits, 4u);
        EXPECT_LE(fake::sizes_asked, 6 * mappings::between_points);
    }
    void map_in_parts(int from, VAddr a, int to, VAddr b, unsigned log2, bool grant = false) {
        mappings::Progress progress{};
        in_parts([&](Word& budget) {
            auto send = Fpage::memory(a, log2).with_rights(rights_all);
            auto mapped =
                mappings::transfer(*space[from], send, *space[to], Fpage::memory(b, log2), 0, grant, progress, budget);
            judge_part();
            EXPECT_NE(mapped, mappings::Mapped::no_memory);
            return mapped != mappings::Mapped::part;
        });
    }
    void unmap_in_parts(int s, VAddr page, unsigned log2, Word rights) {
        VAddr at = page;
        Word status = 0;
        mappings::Sweep sweep{};
        in_parts([&](Word& budget) {
            bool done = mappings::unmap(*space[s], Fpage::memory(page, log2).with_rights(rights), false, at, status,
                sweep, budget);
            judge_part();
            return done;
        });
    }
    void expect_frames(int s, VAddr first, PAddr frame) {
        for (Word i = 0; i < parts; ++i) EXPECT_EQ(at(s, first + (i << kb4)).frame, frame + (i << kb4));
    }
    static constexpr Word places = 120;
    static VAddr place(Word i) { return 0x1000000 + (i << kb32); }
    int most_parts = 100000;
};

TEST_F(WidelyShared, Whole) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32));
    for (Word i = 0; i < places; ++i) map_in_parts(1, 0x10000, 2, place(i), kb32);
    unmap_in_parts(1, 0x12000, kb4, 0);
    map_in_parts(1, 0x13000, 3, 0x3000, kb4, true);
    EXPECT_FALSE(at(1, 0x13000).present);
    for (Word i = 0; i < places; ++i) expect_frames(2, place(i), 0x8000);
    unmap_in_parts(0, 0x8000, kb32, rights_all);
    expect_nodes(1 * parts);
}

TEST_F(WidelyShared, OneFromTheOther) {
    ASSERT_TRUE(map(0, 0x8000, 1, place(0), kb32));
    for (Word i = 1; i < places; ++i) map_in_parts(i % 2 ? 1 : 2, place(i - 1), i % 2 ? 2 : 1, place(i), kb32);
    map_in_parts(1, place(0) + 0x3000, 3, 0x3000, kb4, true);
    expect_frames(2, place(places - 1), 0x8000);
    unmap_in_parts(3, 0x3000, kb4, rights_all);
    EXPECT_FALSE(at(2, place(places - 1) + 0x3000).present);
}

TEST_F(WidelyShared, PartByPart) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32));
    for (Word i = 0; i < places; ++i)
        for (Word part = 0; part < parts; ++part)
            map_in_parts(1, 0x10000 + (part << kb4), 2, place(i) + (part << kb4), kb4);
    unmap_in_parts(1, 0x12000, kb4, 0);
    for (Word i = 0; i < places; ++i) expect_frames(2, place(i), 0x8000);
}

// What becomes several in the middle of a tree, where it is larger above.
TEST_F(WidelyShared, SplitInTheMiddle) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, place(0), kb32) &&
                map(2, place(0), 3, place(0), kb32));
    unmap_in_parts(2, place(0), kb8, 0);
    EXPECT_EQ(log2(3, place(0)), kb8);
    EXPECT_EQ(log2(1, 0x10000), kb32);
    for (Word i = 1; i < places; ++i) {
        map_in_parts(2, place(0), 2 + i % 2, place(i), i % 3 ? kb32 : kb8);
        unmap_in_parts(2 + i % 2, place(i) + page_size, kb4, 0);
    }
    unmap_in_parts(1, 0x12000, kb4, 0);
    unmap_in_parts(0, 0x8000, kb4, rights_all);
    EXPECT_FALSE(at(3, place(0)).present);
}

// A few have it as it is.
TEST_F(WidelyShared, FewHaveItInOnePiece) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, 0x20000, kb32) &&
                map(2, 0x20000, 3, 0x30000, kb32));
    EXPECT_EQ(log2(0, 0x8000) & log2(1, 0x10000) & log2(2, 0x20000) & log2(3, 0x30000), kb32);
    // One more, and all have 8 KB: the new one may have those as they are.
    ASSERT_TRUE(map(1, 0x10000, 3, 0x40000, kb32));
    EXPECT_EQ(log2(0, 0x8000), kb4);
    expect_frames(3, 0x40000, 0x8000);
    Word count = 0;
    for (auto& s : space) EXPECT_TRUE(mappings::consistent(*s, count));
}

class PageSizeProperties : public testing::TestWithParam<unsigned> {};

TEST_P(PageSizeProperties, MappingDatabase) {
    RandomChoices choices(GetParam(), 10000);
    mapping_property(choices);
}
INSTANTIATE_TEST_SUITE_P(Seeds, PageSizeProperties, testing::Values(1995u, 2002u, 20021u, 2003u, 921u, 926u));

}  // namespace
