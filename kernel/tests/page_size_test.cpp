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
        for (int i = 4; i-- > 0;) mappings::unmap(*space[i], Fpage::complete().with_rights(rights_all), true);
    }
    bool map(int from, VAddr a, int to, VAddr b, unsigned log2, Word rights = rights_all, bool grant = false) {
        return transfer_whole(*space[from], Fpage::memory(a, log2).with_rights(rights), *space[to], Fpage::memory(b, log2), 0, grant);
    }
    Word unmap(int s, VAddr page, unsigned log2, bool flush, Word rights = rights_all) {
        return mappings::unmap(*space[s], Fpage::memory(page, log2).with_rights(rights), flush);
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
    ASSERT_TRUE(transfer_whole(*space[0], Fpage::memory(0x8000, kb32).with_rights(rights_all), *space[1], Fpage::memory(0x12000, kb8),
                               0x6000, false));
    EXPECT_EQ(log2(1, 0x12000), kb8);
    EXPECT_EQ(at(1, 0x12000).frame, 0xe000u);
    // Sigma0 has a smaller page there already.
    ASSERT_TRUE(map(0, 0x8000, 2, 0x10000, kb32));
    EXPECT_EQ(log2(2, 0x10000), kb8);
    // And so has the target.
    ASSERT_TRUE(map(0, 0x20000, 2, 0x11000, kb4) && map(0, 0x20000, 3, 0x10000, kb32) && map(3, 0x10000, 2, 0x10000, kb32));
    EXPECT_EQ(log2(2, 0x10000), kb4);
    EXPECT_EQ(at(2, 0x11000).frame, 0x21000u);
}

TEST_F(PageSizes, APartOfALargePageCanGo) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, 0x20000, kb32) && map(2, 0x22000, 3, 0x32000, kb8));
    ASSERT_TRUE(map(1, 0x12000, 3, 0x1000, kb4));
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
    EXPECT_EQ(unmap(0, 0xc000, kb4, false, 0), Word{rights_all});     // all of it has been written to, as far as it is known
    EXPECT_EQ(unmap(0, 0xd000, kb4, false, 0), Word{rights_all});
    EXPECT_EQ(unmap(0, 0xd000, kb4, false, 0), 0u);
}

TEST_F(PageSizes, AttributesOfAPart) {
    ASSERT_TRUE(map(0, 0x8000, 1, 0x10000, kb32) && map(1, 0x10000, 2, 0x20000, kb32));
    mappings::set_attribute(*space[1], Fpage::memory(0x12000, kb4), 0x18);
    EXPECT_EQ(at(1, 0x12000).attribute & at(2, 0x22000).attribute, 0x18u);
    EXPECT_EQ(at(1, 0x13000).attribute | at(2, 0x23000).attribute | at(0, 0xa000).attribute, 0u);
    // Sigma0 gets large pages for it.
    mappings::set_attribute(*space[0], Fpage::memory(0x20000, 17), 0x18);
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

class PageSizeProperties : public testing::TestWithParam<unsigned> {};

TEST_P(PageSizeProperties, MappingDatabase) {
    RandomChoices choices(GetParam(), 10000);
    mapping_property(choices);
}
INSTANTIATE_TEST_SUITE_P(Seeds, PageSizeProperties, testing::Values(1995u, 2002u, 20021u, 2003u, 921u, 926u));

}  // namespace
