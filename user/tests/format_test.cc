// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/format.h>

#include <gtest/gtest.h>
#include <string>

namespace {

template <typename... A> std::string text(const char *format, A... arguments)
{
    char out[200];
    const size_t n = cobnut::format(out, sizeof out, format, arguments...);
    EXPECT_EQ(n, strlen(out));
    return out;
}

TEST(Format, Numbers)
{
    EXPECT_EQ(text("%d %d %u", 0, -5, 4294967295u), "0 -5 4294967295");
    EXPECT_EQ(text("%d", static_cast<int>(0x80000000)), "-2147483648");
    EXPECT_EQ(text("%x %X", 0xBEEFu, 0xBEEFu), "beef BEEF");
    EXPECT_EQ(text("%llu %lld", 18446744073709551615ull, -1ll), "18446744073709551615 -1");
}

TEST(Format, Width)
{
    EXPECT_EQ(text("[%5d|%-5d|%05d]", 42, 42, -42), "[   42|42   |-0042]");
    EXPECT_EQ(text("%08x", 0x1234u), "00001234");
    EXPECT_EQ(text("[%6s|%-6s]", "abc", "abc"), "[   abc|abc   ]");
}

TEST(Format, Strings)
{
    EXPECT_EQ(text("%s%c%%", "ab", 'c'), "abc%");
    EXPECT_EQ(text("%.2s %.*s", "abc", 1, "xyz"), "ab x");
    EXPECT_EQ(text("%s", static_cast<const char *>(nullptr)), "(null)");
}

TEST(Format, CutsOffButCounts)
{
    char out[5];
    EXPECT_EQ(cobnut::format(out, sizeof out, "%s", "abcdefgh"), 8u);
    EXPECT_STREQ(out, "abcd");
    char untouched = 'x';
    EXPECT_EQ(cobnut::format(&untouched, 0, "abc"), 3u);
    EXPECT_EQ(untouched, 'x');
}

} // namespace
