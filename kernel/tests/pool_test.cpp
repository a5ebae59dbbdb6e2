// SPDX-License-Identifier: BSD-2-Clause
// Pools: objects that do not overlap, pages that come back, and memory that runs out.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <set>
#include <vector>

#include "core/memory.hpp"
#include "fake_port.hpp"

namespace {

constexpr Word size = 320, pages = 3;

struct PoolTest : testing::Test {
    PoolTest() { fake::pages_left = pages; }
    ~PoolTest() override { fake::pages_left = -1; }

    // Everything that there is, each object filled with a pattern of its own.
    std::vector<unsigned char*> take_all() {
        std::vector<unsigned char*> all;
        while (auto* object = static_cast<unsigned char*>(pool.allocate())) {
            for (Word i = 0; i < size; ++i) EXPECT_EQ(object[i], 0) << "not zeroed";
            std::memset(object, static_cast<int>(all.size()) + 1, size);
            all.push_back(object);
        }
        return all;
    }
    void expect_whole(const std::vector<unsigned char*>& all) {
        for (std::size_t n = 0; n < all.size(); ++n)
            for (Word i = 0; i < size; ++i) ASSERT_EQ(all[n][i], (n + 1) & 0xff);
    }

    memory::Pool& pool = *new_pool();

private:
    // Keeps a page for ever, as in the kernel.
    static memory::Pool* new_pool() {
        static auto& kept = *new std::deque<memory::Pool>;
        return &kept.emplace_back(size, 64);
    }
};

TEST_F(PoolTest, ObjectsDoNotOverlapAndRunOut) {
    auto all = take_all();
    EXPECT_EQ(all.size(), pages * ((page_size - 64) / size));
    EXPECT_EQ(pool.in_use(), all.size());
    EXPECT_EQ(fake::pages_left, 0);
    expect_whole(all);
    EXPECT_EQ((std::set<unsigned char*>(all.begin(), all.end()).size()), all.size());
    for (auto* object : all) pool.free(object);
}

// Each begins at the offset in a part of its page, or right behind another, and ends in the same part.
TEST_F(PoolTest, ObjectsDoNotCrossBlocks) {
    constexpr Word first = 32, block = 1024;
    static auto& blocks = *new memory::Pool{size, first, block};
    std::vector<unsigned char*> all;
    while (auto* object = static_cast<unsigned char*>(blocks.allocate())) all.push_back(object);
    EXPECT_EQ(all.size(), pages * (page_size / block) * ((block - first) / size));
    for (auto* object : all) EXPECT_EQ((reinterpret_cast<std::uintptr_t>(object) % block - first) % size, 0u);
    for (auto* object : all) EXPECT_LE(reinterpret_cast<std::uintptr_t>(object) % block, block - size);
    for (auto* object : all) blocks.free(object);
}

TEST_F(PoolTest, EmptyPagesComeBackButForOne) {
    auto all = take_all();
    for (auto* object : all) pool.free(object);
    EXPECT_EQ(pool.in_use(), 0u);
    EXPECT_EQ(fake::pages_left, static_cast<int>(pages) - 1);
    auto again = take_all();
    EXPECT_EQ(again.size(), all.size());
    for (auto* object : again) pool.free(object);
}

TEST_F(PoolTest, OneObjectKeepsItsPage) {
    auto all = take_all();
    auto* kept = all.front();
    for (std::size_t n = 1; n < all.size(); ++n) pool.free(all[n]);
    EXPECT_EQ(fake::pages_left, static_cast<int>(pages) - 2) << "its page, and an empty one";
    EXPECT_EQ(kept[0], 1);
    EXPECT_EQ(kept[size - 1], 1);
    pool.free(kept);
}

TEST_F(PoolTest, TheSameObjectAgainAndAgainTakesNoPage) {
    void* first = pool.allocate();
    pool.free(first);
    for (int i = 0; i < 100; ++i) {
        void* object = pool.allocate();
        EXPECT_EQ(object, first);
        pool.free(object);
    }
    EXPECT_EQ(fake::pages_left, static_cast<int>(pages) - 1);
}

// As a mapping that is made and taken back in turn, beside others.
TEST_F(PoolTest, AFewMoreAgainAndAgainTakeNoPage) {
    constexpr Word in_page = (page_size - 64) / size;
    std::vector<void*> first(in_page - 1);
    for (void*& object : first) object = pool.allocate();
    for (int i = 0; i < 100; ++i) {
        void* more[3];
        for (void*& object : more) object = pool.allocate();
        for (void* object : more) pool.free(object);
        EXPECT_EQ(fake::pages_left, static_cast<int>(pages) - 2);
    }
    for (void* object : first) pool.free(object);
    EXPECT_EQ(fake::pages_left, static_cast<int>(pages) - 1);
}

TEST_F(PoolTest, AnyOrderOfFreeing) {
    auto all = take_all();
    for (std::size_t step : {7u, 1u}) {
        for (std::size_t n = 0; n < all.size(); n += step) {
            if (all[n]) pool.free(all[n]);
            all[n] = nullptr;
        }
    }
    EXPECT_EQ(pool.in_use(), 0u);
    EXPECT_EQ(fake::pages_left, static_cast<int>(pages) - 1);
}

}  // namespace
