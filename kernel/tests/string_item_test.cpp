// SPDX-License-Identifier: BSD-2-Clause
// The walk over string items, and the splitting of a string over a buffer, against a model that lays every item out
// byte by byte first.
#include "core/string_item.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

constexpr VAddr limit = 0xc0000000;
using Bytes = std::vector<VAddr>;           // the address of each byte, in order

struct Item {
    std::vector<Word> words;
    Bytes bytes;
};

Item random_item(std::mt19937& random) {
    auto below = [&](Word n) { return static_cast<Word>(random() % n); };
    Item item;
    Word descriptors = 1 + below(4);
    for (Word d = 0; d < descriptors; ++d) {
        Word pointers = 1 + below(below(4) ? 3 : 32), length = below(below(3) ? 5 : 300);
        Word first = length << 10 | (pointers - 1) << 4 | (d + 1 < descriptors ? 0x200 : 0);
        if (d == 0) first |= below(4) << 1 | below(2);
        item.words.push_back(first | (d > 0 ? below(16) : 0));      // no type in further length words
        for (Word p = 0; p < pointers; ++p) {
            VAddr at = below(2) ? below(limit - 300) : limit - length;
            item.words.push_back(at);
            for (Word i = 0; i < length; ++i) item.bytes.push_back(at + i);
        }
    }
    return item;
}

ItemWords upwards(const std::vector<Word>& words) {
    return {words.data(), 1, static_cast<Word>(words.size()), nullptr};
}

StringCursor cursor(const std::vector<Word>& words) {
    StringCursor c;
    c.begin(words.at(0), 1);
    return c;
}

// What a cursor shows, taken in pieces of random size.
Bytes walk(std::mt19937& random, const std::vector<Word>& words, StringCursor::Next& end) {
    Bytes seen;
    StringCursor c = cursor(words);
    while ((end = c.next(upwards(words), limit)) == StringCursor::Next::bytes) {
        Word n = 1 + static_cast<Word>(random() % c.left());
        for (Word i = 0; i < n; ++i) seen.push_back(c.at() + i);
        c.advance(n);
    }
    if (end == StringCursor::Next::end) { EXPECT_EQ(c.index(), words.size()); }
    return seen;
}

TEST(StringItem, ShowsEveryByteInOrder) {
    std::mt19937 random(1);
    for (int round = 0; round < 3000; ++round) {
        Item item = random_item(random);
        StringCursor::Next end;
        EXPECT_EQ(walk(random, item.words, end), item.bytes);
        EXPECT_EQ(end, StringCursor::Next::end);
    }
}

TEST(StringItem, CutOffAnywhereItIsBadAfterWhatIsThere) {
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        Item item = random_item(random);
        for (std::size_t words = 1; words < item.words.size(); ++words) {
            std::vector<Word> cut(item.words.begin(), item.words.begin() + static_cast<long>(words));
            StringCursor::Next end;
            Bytes seen = walk(random, cut, end);
            EXPECT_EQ(end, StringCursor::Next::bad);
            ASSERT_LE(seen.size(), item.bytes.size());
            EXPECT_TRUE(std::equal(seen.begin(), seen.end(), item.bytes.begin()));
            StringCursor c = cursor(cut);
            EXPECT_FALSE(c.finish(upwards(cut)));
        }
    }
}

TEST(StringItem, FinishesFromAnyPlace) {
    std::mt19937 random(3);
    for (int round = 0; round < 1000; ++round) {
        Item item = random_item(random);
        StringCursor c = cursor(item.words);
        Word steps = static_cast<Word>(random() % 8);
        while (steps-- && c.next(upwards(item.words), limit) == StringCursor::Next::bytes) c.advance(c.left());
        EXPECT_EQ(c.more(), bool(item.words[0] & 1));
        EXPECT_TRUE(c.finish(upwards(item.words)));
        EXPECT_EQ(c.index(), item.words.size());
    }
}

TEST(StringItem, SplitsAStringOverABuffer) {
    std::mt19937 random(4);
    for (int round = 0; round < 2000; ++round) {
        Item string = random_item(random), buffer = random_item(random);
        StringCursor from = cursor(string.words), to = cursor(buffer.words);
        std::size_t done = 0;
        bool fits = true;
        while (from.next(upwards(string.words), limit) == StringCursor::Next::bytes) {
            if (to.next(upwards(buffer.words), limit) != StringCursor::Next::bytes) {
                fits = false;
                break;
            }
            Word n = std::min(from.left(), to.left());
            ASSERT_LE(done + n, std::min(string.bytes.size(), buffer.bytes.size()));
            for (Word i = 0; i < n; ++i, ++done) {
                ASSERT_EQ(from.at() + i, string.bytes[done]);
                ASSERT_EQ(to.at() + i, buffer.bytes[done]);
            }
            from.advance(n);
            to.advance(n);
        }
        EXPECT_EQ(fits, string.bytes.size() <= buffer.bytes.size());
        EXPECT_EQ(done, std::min(string.bytes.size(), buffer.bytes.size()));
    }
}

struct Case {
    Word length;
    VAddr at;
    bool good;
};

TEST(StringItem, LiesInUserMemory) {
    constexpr Word longest = 0x3fffff;
    const Case cases[] = {{1, limit - 1, true}, {1, limit, false}, {longest, limit - longest, true},
        {longest, limit - longest + 1, false}, {16, 0xfffffff8, false}, {longest, 0xffffffff, false}, {0, limit, true},
        {0, 0xffffffff, true}, {longest, 0, true}};
    for (const Case& c : cases) {
        std::vector<Word> words{c.length << 10, c.at};
        StringCursor walk = cursor(words);
        StringCursor::Next good = c.length ? StringCursor::Next::bytes : StringCursor::Next::end;
        EXPECT_EQ(walk.next(upwards(words), limit), c.good ? good : StringCursor::Next::bad)
            << c.length << " at " << c.at;
    }
}

// Buffer registers go downwards from BR0.
TEST(StringItem, ReadsDownwardsAndShowsWhatItRead) {
    std::vector<Word> registers{0x300, 0x200, 2u << 10 | 0x10, 0};      // BR3, BR2, BR1, BR0
    Word seen[4] = {};
    ItemWords words{&registers[3], -1, 4, seen};
    StringCursor c;
    c.begin(words.read(1), 2);
    EXPECT_EQ(c.next(words, limit), StringCursor::Next::bytes);
    EXPECT_EQ(c.at(), 0x200u);
    c.advance(2);
    EXPECT_EQ(c.next(words, limit), StringCursor::Next::bytes);
    EXPECT_EQ(c.at(), 0x300u);
    EXPECT_EQ(seen[1], 2u << 10 | 0x10);
    EXPECT_EQ(seen[2], 0x200u);
    EXPECT_EQ(seen[3], 0x300u);
}

// Words that change after they were read change nothing.
TEST(StringItem, ReadsEachWordOnce) {
    std::vector<Word> words{4u << 10 | 0x10, 0x1000, 0x2000};
    StringCursor c = cursor(words);
    EXPECT_EQ(c.next(upwards(words), limit), StringCursor::Next::bytes);
    words[0] = 0xffffffff, words[1] = 0xffffffff;
    c.advance(2);
    EXPECT_EQ(c.next(upwards(words), limit), StringCursor::Next::bytes);
    EXPECT_EQ(c.at(), 0x1002u);
    EXPECT_EQ(c.left(), 2u);
    c.advance(2);
    EXPECT_EQ(c.next(upwards(words), limit), StringCursor::Next::bytes);
    EXPECT_EQ(c.at(), 0x2000u);
    c.advance(4);
    EXPECT_EQ(c.next(upwards(words), limit), StringCursor::Next::end);
}

}  // namespace
