// SPDX-License-Identifier: BSD-2-Clause
#include "sigma0/pool.h"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>

namespace {

using sigma0::Memory;
using sigma0::Pool;
using sigma0::Word;

constexpr Word alice = 0xC8001, bob = 0xCC001;

/// 32 MB of memory as a boot loader describes it: the kernel at 1..3 MB, the screen, a module at 16 MB.
std::unique_ptr<Pool> machine()
{
    auto pool = std::make_unique<Pool>();
    pool->describe({0, 0xFFFFFFFF}, Memory::undefined);
    pool->describe({0, 0x9FBFF}, Memory::conventional);
    pool->describe({0x100000, 0x1FFFFFF}, Memory::conventional);
    pool->describe({0x100000, 0x2FFFFF}, Memory::reserved);
    pool->describe({0xA0000, 0xBFFFF}, Memory::shared);
    pool->describe({0x1000000, 0x1003FFF}, Memory::boot_loader);
    pool->limit_any(0xC0000000);
    return pool;
}

TEST(Pool, LaterDescriptorsOverride)
{
    const auto pool = machine();
    Memory type;
    auto range = pool->segment(0x200000, type);
    EXPECT_EQ(type, Memory::reserved);
    EXPECT_EQ(range.low, 0x100000u);
    EXPECT_EQ(range.high, 0x2FFFFFu);
    range = pool->segment(0x1800000, type);
    EXPECT_EQ(type, Memory::conventional);
    EXPECT_EQ(range.low, 0x1004000u);
    EXPECT_EQ(range.high, 0x1FFFFFFu);
    range = pool->segment(0xF0000000, type);
    EXPECT_EQ(type, Memory::undefined);
}

TEST(Pool, AnyComesFromTheTopAndIsAligned)
{
    const auto pool = machine();
    Word base;
    ASSERT_TRUE(pool->take_any(alice, 12, base));
    EXPECT_EQ(base, 0x1FFF000u);
    ASSERT_TRUE(pool->take_any(bob, 20, base));
    EXPECT_EQ(base, 0x1E00000u);
    ASSERT_TRUE(pool->take_any(bob, 12, base));
    EXPECT_EQ(base, 0x1FFE000u);
    EXPECT_FALSE(pool->take_any(bob, 25, base));
    EXPECT_FALSE(pool->take_any(bob, 11, base));
    EXPECT_FALSE(pool->take_any(bob, 32, base));
}

/// Every page of conventional memory is found once, and nothing else.
TEST(Pool, AnyIsExhaustive)
{
    const auto pool = machine();
    const uint64_t expected = pool->free_bytes() / 4096;
    uint64_t pages = 0;
    for (Word base; pool->take_any(alice, 12, base); pages++) {
        Memory type;
        pool->segment(base, type);
        ASSERT_EQ(type, Memory::conventional);
    }
    EXPECT_EQ(pages, expected); // rounded down: 9F000..9FBFF is not a whole page
    EXPECT_LT(pool->free_bytes(), 4096u);
    EXPECT_LE(pool->extents(), 4u); // neighbours merge
}

TEST(Pool, Ownership)
{
    const auto pool = machine();
    EXPECT_TRUE(pool->take(alice, 0x800000, 12));
    EXPECT_TRUE(pool->take(alice, 0x800000, 12));
    EXPECT_FALSE(pool->take(bob, 0x800000, 12));
    EXPECT_FALSE(pool->take(bob, 0x800000, 22)); // contains it
    EXPECT_TRUE(pool->take(bob, 0x801000, 12));
    EXPECT_FALSE(pool->take(alice, 0x800000, 13));
    EXPECT_TRUE(pool->take(alice, 0xB8000, 12)); // shared
    EXPECT_TRUE(pool->take(bob, 0xB8000, 12));
}

TEST(Pool, KindsOfMemory)
{
    const auto pool = machine();
    EXPECT_FALSE(pool->take(alice, 0x100000, 12)); // the kernel's
    EXPECT_FALSE(pool->take(alice, 0, 22));        // contains some
    EXPECT_TRUE(pool->take(alice, 0x1000000, 12)); // a module
    EXPECT_TRUE(pool->take(alice, 0xFEE00000, 12)); // a device
    EXPECT_FALSE(pool->take(bob, 0xFEE00000, 12));
    EXPECT_TRUE(pool->take(alice, 0xFFFFF000, 12)); // the last page there is
    EXPECT_FALSE(pool->take(alice, 0x800800, 12)); // not aligned
    EXPECT_FALSE(pool->take(alice, 0x800000, 32));
}

TEST(Pool, FaultsGetConventionalMemoryOnly)
{
    const auto pool = machine();
    EXPECT_TRUE(pool->take_fault(alice, 0x900000));
    EXPECT_FALSE(pool->take_fault(bob, 0x900000));
    EXPECT_FALSE(pool->take_fault(alice, 0x1001000));
    EXPECT_FALSE(pool->take_fault(alice, 0xB8000));
    EXPECT_FALSE(pool->take_fault(alice, 0xFEE00000));
    pool->assign(alice, {0x1001000, 0x1001FFF}); // its own image
    EXPECT_TRUE(pool->take_fault(alice, 0x1001000));
    EXPECT_FALSE(pool->take_fault(bob, 0x1001000));
}

/// Against a map from page to owner.
TEST(Pool, RandomRequests)
{
    const auto pool = machine();
    std::map<Word, Word> owner;
    std::mt19937 random(1);
    for (int i = 0; i < 3000; i++) {
        const Word who = alice + 0x4000 * (random() % 3), log2 = 12 + random() % 4;
        Word base = 0x400000 + (random() % 0xC00 << 12 & ~((1u << log2) - 1));
        if (base >= 0x1000000) continue;
        bool expected = true;
        for (Word page = base; page < base + (1u << log2); page += 4096)
            if (owner.count(page) && owner[page] != who) expected = false;
        ASSERT_EQ(pool->take(who, base, log2), expected) << std::hex << base;
        for (Word page = base; expected && page < base + (1u << log2); page += 4096) owner[page] = who;
    }
    for (size_t i = 1; i < pool->extents(); i++) ASSERT_LT(pool->extent(i - 1).high, pool->extent(i).low);
}

} // namespace
