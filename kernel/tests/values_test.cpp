// SPDX-License-Identifier: BSD-2-Clause
// Ids, times and fpages: the value types, against the examples and formulas of the manual and the sheet.
#include <gtest/gtest.h>

#include "core/x2.hpp"

namespace {

TEST(ThreadIds, TellLocalFromGlobal) {
    EXPECT_TRUE(ThreadId::global(50, 1).is_global());
    EXPECT_EQ(ThreadId::global(50, 1).raw, 0x000c8001u);
    EXPECT_TRUE(ThreadId{0xbf000100}.is_local());
    EXPECT_FALSE(ThreadId::nil().is_local());
    EXPECT_TRUE(ThreadId::any_local().is_local());
    EXPECT_TRUE(ThreadId::any().is_global());
}

TEST(Times, PeriodsAreMantissaTimesPowerOfTwo) {
    EXPECT_EQ((Time{4 << 10 | 625}.period()), 10000u);
    EXPECT_TRUE(Time::never().is_never());
    EXPECT_TRUE(Time::zero().is_zero());
    EXPECT_TRUE((Time{7 << 10}.is_zero()));
    EXPECT_EQ((Time{31 << 10 | 1023}.period()), Microseconds{1023} << 31);
}

TEST(Times, PointsAreTheNextClockValueThatFits) {
    // Every point made for a time not too far ahead names that time, cut to its precision.
    for (unsigned e : {0u, 3u, 10u, 15u})
        for (Microseconds now :
            {Microseconds{0}, Microseconds{12345}, Microseconds{0xfffffffff}, Microseconds{1} << 40})
            for (Microseconds ahead : {Microseconds{1}, Microseconds{500}, Microseconds{1023}}) {
                Microseconds t = (now >> e) + ahead;
                Time point{static_cast<std::uint16_t>(0x8000 | e << 11 | (t >> 10 & 1) << 10 | (t & 0x3ff))};
                EXPECT_EQ(point.point(now), t << e) << "e " << e << " now " << now;
            }
}

TEST(Times, RemainingTimeIsReportedAsAPeriodNotAbove) {
    for (Microseconds us :
        {Microseconds{0}, Microseconds{1}, Microseconds{1023}, Microseconds{1024}, Microseconds{123456789}}) {
        Time t = Time::from_us(us);
        EXPECT_LE(t.period(), us);
        EXPECT_GE(t.period() * 1024, us * 1022);
    }
}

TEST(Fpages, SizesBasesAndNil) {
    EXPECT_TRUE(Fpage::nil().is_nil());
    EXPECT_FALSE(Fpage::complete().is_nil());
    EXPECT_EQ(Fpage::complete().log2(), 32u);
    EXPECT_EQ(Fpage::complete().last(), 0xffffffffu);
    EXPECT_TRUE((Fpage{0x1000 | 10 << 4}.is_nil())) << "1 KB is below the hardware's pages";
    EXPECT_TRUE((Fpage{0x1000 | 33 << 4}.is_nil()));
    EXPECT_TRUE((Fpage{0x00804020}.is_io()));
    Fpage f{0x12345000 | 16 << 4 | 7};
    EXPECT_EQ(f.base(), 0x12340000u);
    EXPECT_EQ(f.last(), 0x1234ffffu);
    EXPECT_EQ(f.with_rights(2).rights(), 2u);
}

TEST(MsgTags, FlagsOfTheSenderAreNotDelivered) {
    MsgTag tag{0xabcdffff};
    EXPECT_EQ(tag.delivered(), 0xabcd0fffu);
    EXPECT_EQ(MsgTag::make(label_page_fault | 2, 2).raw, 0xffe20002u);
}

}  // namespace
