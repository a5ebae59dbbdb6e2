// SPDX-License-Identifier: BSD-2-Clause
#include <mach/pool.h>

#include <gtest/gtest.h>
#include <vector>

namespace {

using Numbers = std::vector<int>;
constexpr unsigned size = 70; // more than one word of bits, and a part of one

struct Numbered {
    int number = -1;
};
using Pool = mach::Pool<Numbered, size>;

void fill(Pool &pool)
{
    for (unsigned i = 0; i < size; i++) pool.take()->number = static_cast<int>(i);
}

Numbers numbers_of(Pool &pool)
{
    Numbers found;
    pool.each([&](Numbered &one) { found.push_back(one.number); });
    return found;
}

TEST(Pool, HasRoomForSoManyAndNoMore)
{
    Pool pool;
    fill(pool);
    EXPECT_TRUE(pool.full());
    EXPECT_EQ(pool.take(), nullptr);
    Numbers all(size);
    for (unsigned i = 0; i < size; i++) all[i] = static_cast<int>(i);
    EXPECT_EQ(numbers_of(pool), all);
}

TEST(Pool, GivesTheFirstThatIsUnusedAndMakesItNew)
{
    Pool pool;
    fill(pool);
    for (unsigned number : {65u, 33u, 70u}) pool.give_back(*pool.by_number(number));
    EXPECT_EQ(pool.used(), size - 3);
    for (unsigned number : {33u, 65u, 70u}) {
        EXPECT_EQ(pool.by_number(number), nullptr);
        Numbered *const one = pool.take();
        EXPECT_EQ(pool.number_of(*one), number);
        EXPECT_EQ(one->number, -1);
    }
    EXPECT_EQ(pool.by_number(0), nullptr);
    EXPECT_EQ(pool.by_number(size + 1), nullptr);
}

TEST(Pool, EachIsVisitedThatIsUsedWhenItsTurnComes)
{
    Pool pool;
    fill(pool);
    for (unsigned number = 1; number <= size; number++)
        if (number != 4) pool.give_back(*pool.by_number(number));
    pool.take();
    pool.take(); // the first two and the fourth are used
    Numbers found;
    pool.each([&](Numbered &one) {
        const unsigned number = pool.number_of(one);
        found.push_back(static_cast<int>(number));
        if (number == 2) pool.take(); // the third comes next
        if (number == 3) pool.give_back(*pool.by_number(4));
    });
    EXPECT_EQ(found, (Numbers{1, 2, 3}));
}

} // namespace
