// SPDX-License-Identifier: BSD-2-Clause
// Accounts of kernel memory: limits, shares, and who pays for what.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/memory.hpp"
#include "core/space.hpp"
#include "fake_port.hpp"
#include "ia32/ports.hpp"

namespace {

using memory::Account;
using memory::share_of_unused;

struct AccountTest : testing::Test {
    ~AccountTest() override {
        fake::pages_left = -1;
        memory::accounts = 1;
    }

    static void start(Word pages, Word accounts) {
        fake::pages_left = static_cast<int>(fake::pages_total = pages);
        memory::accounts = accounts;
    }
    // As the kernel does it: a page that is charged is taken.
    static bool take_page(Account& a) {
        if (!fake::pages_left || !a.charge(page_size)) return false;
        --fake::pages_left;
        return true;
    }
    static Word take_all(Account& a) {
        Word n = 0;
        while (take_page(a)) ++n;
        return n;
    }
};

TEST_F(AccountTest, ALimitIsKeptToTheByte) {
    Account a{0, 3 * page_size};
    EXPECT_TRUE(a.charge(3 * page_size - 16));
    EXPECT_TRUE(a.charge(16));
    EXPECT_FALSE(a.charge(1));
    EXPECT_EQ(a.used, 3 * page_size);
    a.credit(16);
    EXPECT_FALSE(a.charge(17));
    EXPECT_TRUE(a.charge(16));
}

TEST_F(AccountTest, ALimitBelowWhatIsUsedTakesNothingAway) {
    Account a{0, 0};
    EXPECT_TRUE(a.charge(2 * page_size));
    a.limit = page_size;
    EXPECT_FALSE(a.charge(1));
    EXPECT_EQ(a.used, 2 * page_size);
    a.credit(page_size + 1);
    EXPECT_TRUE(a.charge(1));
    EXPECT_FALSE(a.charge(1));
}

TEST_F(AccountTest, WithoutABoundOnlyMemoryItselfEnds) {
    Account a{0, memory::unlimited};
    fake::pages_left = 500;
    EXPECT_EQ(take_all(a), 500u);
    EXPECT_TRUE(a.charge(16)) << "an object that a pool has already";
}

TEST_F(AccountTest, OverdrawingIsChargedBeyondTheLimit) {
    Account a{page_size, page_size};
    a.overdraw(16);
    EXPECT_EQ(a.used, page_size + 16);
    EXPECT_FALSE(a.charge(1));
}

// One after the other takes all that he gets: the reserve stays, and all have their parts of it.
TEST_F(AccountTest, HoweverManyTakeAllEachHasItsPartOfTheReserve) {
    constexpr Word total = 4096, reserve = total / memory::reserve_part;
    for (Word count : {1u, 2u, 10u, 50u}) {
        start(total, count + 2);
        std::vector<Account> greedy(count);
        for (Account& a : greedy) take_all(a);
        EXPECT_GT(greedy[0].used / page_size, total / 2) << "much of it stays idle";
        for (Account& a : greedy) EXPECT_FALSE(take_page(a));
        Account modest{};
        for (Word n = 0; n < reserve / memory::accounts; ++n) EXPECT_TRUE(take_page(modest)) << n;
    }
}

// A space that worked before another took all memory goes on, as long as it holds much less than that one.
TEST_F(AccountTest, WhoHoldsLessThanTheGreedyGoesOn) {
    start(1000, 20);
    Account modest{}, greedy{};
    for (Word n = 0; n < 200; ++n) ASSERT_TRUE(take_page(modest));
    EXPECT_GT(take_all(greedy), 500u);
    EXPECT_TRUE(take_page(modest));
    EXPECT_FALSE(take_page(greedy));
}

// In turns, they end up with equal shares.
TEST_F(AccountTest, SeveralAtATimeGetTheSame) {
    start(4096, 20);
    std::vector<Account> greedy(10);
    for (bool any = true; any;) {
        any = false;
        for (Account& a : greedy) any |= take_page(a);
    }
    for (Account& a : greedy) EXPECT_NEAR(a.used / page_size, greedy[0].used / page_size, share_of_unused + 1);
}

TEST_F(AccountTest, PoolsChargeObjectsAndGiveBack) {
    static auto& pool = *new memory::Pool{320};
    Word before = memory::pool_bytes;
    Account a{0, 1000}, b{0, memory::unlimited};
    std::array<void*, 3> three{};
    for (void*& object : three) object = pool.allocate(a);
    ASSERT_TRUE(three[0] && three[1] && three[2]);
    EXPECT_EQ(pool.allocate(a), nullptr);
    EXPECT_EQ(a.used, 960u);
    fake::pages_left = 0;
    std::vector<void*> all;
    while (void* object = pool.allocate(b)) all.push_back(object);
    EXPECT_EQ(b.used, 320 * all.size()) << "what memory does not allow is not charged";
    EXPECT_EQ(memory::pool_bytes - before, a.used + b.used);
    for (void* object : all) pool.free(object, b);
    for (void* object : three) pool.free(object, a);
    EXPECT_EQ(a.used, 0u);
    EXPECT_EQ(b.used, 0u);
    EXPECT_EQ(memory::pool_bytes, before);
}

constexpr VAddr here = 0x400000, there = 0x800000;
Fpage page_at(VAddr at) { return Fpage::memory(at, page_log2).with_rights(rights_all); }
constexpr Word node = sizeof(Mapping);

struct Mappings : testing::Test {
    Space sigma0{}, left{}, right{};

    Mappings() { sigma0.idempotent = true; }
    ~Mappings() override {
        for (Space* s : {&sigma0, &left, &right}) unmap_whole(*s, Fpage::complete().with_rights(rights_all), true);
        for (Space* s : {&sigma0, &left, &right}) EXPECT_EQ(s->account.used, 0u);
    }
};

TEST_F(Mappings, TheReceiverPaysForAMapping) {
    ASSERT_TRUE(transfer_whole(sigma0, page_at(here), left, page_at(there), 0, false));
    EXPECT_EQ(sigma0.account.used, node) << "the root of the tree";
    EXPECT_EQ(left.account.used, node);
    ASSERT_TRUE(transfer_whole(left, page_at(there), right, page_at(here), 0, false));
    EXPECT_EQ(left.account.used, node);
    EXPECT_EQ(right.account.used, node);
    right.account.limit = node;
    EXPECT_FALSE(transfer_whole(left, page_at(there), right, page_at(there), 0, false));
    unmap_whole(left, page_at(there), false);
    EXPECT_EQ(right.account.used, 0u);
}

TEST_F(Mappings, AGrantMovesTheCharge) {
    ASSERT_TRUE(transfer_whole(sigma0, page_at(here), left, page_at(there), 0, false));
    right.account.limit = node - 1;
    EXPECT_FALSE(transfer_whole(left, page_at(there), right, page_at(here), 0, true));
    EXPECT_EQ(left.account.used, node);
    EXPECT_EQ(right.account.used, 0u);
    right.account.limit = node;
    EXPECT_TRUE(transfer_whole(left, page_at(there), right, page_at(here), 0, true));
    EXPECT_EQ(left.account.used, 0u);
    EXPECT_EQ(right.account.used, node);
}

constexpr Word record = sizeof(ports::Record);

struct PortAccounts : testing::Test {
    std::array<Space, 3> space{};

    PortAccounts() { EXPECT_TRUE(ports::give_all(space[0])); }
    ~PortAccounts() override {
        for (Space& s : space) take(s, ports::all, true);
        for (Space& s : space) EXPECT_EQ(s.account.used, 0u);
    }
    static void take(Space& from, ports::Range range, bool flush) {
        for (Word budget = mappings::between_points; !ports::take(from, range, flush, budget);
            budget = mappings::between_points) {}
    }
    static bool transfer(Space& from, ports::Range range, Space& to, bool grant) {
        for (Word budget; !range.empty();)
            if (!ports::transfer(from, range, to, grant, budget = mappings::between_points)) return false;
        return true;
    }
};

TEST_F(PortAccounts, TheHolderPays) {
    EXPECT_EQ(space[0].account.used, record);
    space[1].account.limit = record;
    EXPECT_TRUE(transfer(space[0], {0x100, 0x1ff}, space[1], false));
    EXPECT_EQ(space[1].account.used, record);
    EXPECT_FALSE(transfer(space[0], {0x300, 0x3ff}, space[1], false));
    space[1].account.limit = memory::unlimited;
    space[2].account.limit = record - 1;
    EXPECT_FALSE(transfer(space[1], {0x100, 0x1ff}, space[2], true));
    EXPECT_TRUE(ports::held(space[1], {0x100, 0x1ff}));
    space[2].account.limit = record;
    EXPECT_TRUE(transfer(space[1], {0x100, 0x1ff}, space[2], true));
    EXPECT_EQ(space[1].account.used, 0u);
    EXPECT_EQ(space[2].account.used, record);
}

// Nobody loses ports because a record of his is cut in two by another's unmapping.
TEST_F(PortAccounts, ARecordIsCutBeyondTheLimitOfItsHolder) {
    space[1].account.limit = record;
    ASSERT_TRUE(transfer(space[0], {0x100, 0x1ff}, space[1], false));
    take(space[0], {0x140, 0x14f}, false);
    EXPECT_TRUE(ports::held(space[1], {0x100, 0x13f}));
    EXPECT_TRUE(ports::held(space[1], {0x150, 0x1ff}));
    EXPECT_EQ(space[1].account.used, 2 * record);
}

}  // namespace
