// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/options.h>

#include <gtest/gtest.h>
#include <string>

namespace {

using cobnut::Options;
using cobnut::Text;

std::string string(Text t) { return std::string(t.data ? t.data : "", t.size); }

TEST(Options, Program)
{
    EXPECT_EQ(string(Options("build/user/pingpong pair=x").program()), "pingpong");
    EXPECT_EQ(string(Options("  hello ").program()), "hello");
    EXPECT_EQ(string(Options("").program()), "");
    EXPECT_EQ(string(Options(nullptr).program()), "");
    EXPECT_EQ(string(Options("/").program()), "");
}

TEST(Options, Find)
{
    const Options options("prog a=1 bb=two a=3 empty= flag");
    EXPECT_EQ(string(options.find("a")), "3");
    EXPECT_EQ(string(options.find("bb")), "two");
    EXPECT_TRUE(options.find("empty"));
    EXPECT_EQ(options.find("empty").size, 0u);
    EXPECT_FALSE(options.find("b"));
    EXPECT_FALSE(options.find("flag"));
}

TEST(Options, Number)
{
    const Options options("p n=12 h=0xFf bad=1x big=4294967296 top=4294967295");
    bool bad = false;
    EXPECT_EQ(options.number("n", 7, &bad), 12u);
    EXPECT_EQ(options.number("h", 7, &bad), 255u);
    EXPECT_EQ(options.number("none", 7, &bad), 7u);
    EXPECT_EQ(options.number("top", 7, &bad), 4294967295u);
    EXPECT_FALSE(bad);
    EXPECT_EQ(options.number("bad", 7, &bad), 7u);
    EXPECT_TRUE(bad);
    bad = false;
    options.number("big", 7, &bad);
    EXPECT_TRUE(bad);
}

TEST(Options, Range)
{
    unsigned a = 9, b = 9, c = 9;
    const auto parse = [&](const char *text) { return cobnut::parse_range(Text{text, strlen(text)}, a, b, c); };
    ASSERT_TRUE(parse("0:100:25"));
    EXPECT_EQ(a, 0u);
    EXPECT_EQ(b, 100u);
    EXPECT_EQ(c, 25u);
    ASSERT_TRUE(parse("7"));
    EXPECT_EQ(a, 7u);
    EXPECT_EQ(b, 7u);
    ASSERT_TRUE(parse("1:3"));
    EXPECT_EQ(c, 1u);
    for (const char *wrong : {"", ":", "x", "3:1", "1:2:0", "1:2:3:4"}) EXPECT_FALSE(parse(wrong)) << wrong;
}

} // namespace
