// SPDX-License-Identifier: BSD-2-Clause
// The share of the processor that drivers have before ordinary programs.
#include <init/budget.h>

#include <gtest/gtest.h>

using init::Budget;

namespace {

// Runs a thread that always wants to run for `us`, and others that run whenever it may not run before them; how long it
// has run first.
uint64_t before_others(uint64_t us)
{
    Budget budget;
    uint64_t now = 1, first = 0;
    const uint64_t end = now + us;
    while (now < end) {
        now += Budget::quantum_us;
        first += Budget::quantum_us;
        if (budget.renew(now)) continue;
        now = budget.end_us();
        EXPECT_TRUE(budget.renew(now));
    }
    return first;
}

} // namespace

TEST(Budget, OneThatAlwaysRunsHasAQuarter)
{
    constexpr uint64_t us = 10'000'000;
    const uint64_t share = before_others(us);
    EXPECT_GE(share, us / 4);
    EXPECT_LE(share, us / 4 + 2 * Budget::quantum_us);
}

TEST(Budget, OneThatTakesLessNeverWaits)
{
    Budget budget;
    for (uint64_t now = Budget::period_us; now < 100 * Budget::period_us; now += Budget::period_us)
        EXPECT_TRUE(budget.renew(now));
}

TEST(Budget, NobodyWaitsLongerThanAPeriodLasts)
{
    Budget budget;
    EXPECT_TRUE(budget.renew(1000));
    EXPECT_FALSE(budget.renew(1000 + Budget::quantum_us));
    EXPECT_EQ(budget.end_us(), 1000u + Budget::period_us);
    EXPECT_FALSE(budget.renew(budget.end_us() - 1));
    EXPECT_TRUE(budget.renew(budget.end_us()));
}
