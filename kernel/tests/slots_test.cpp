// SPDX-License-Identifier: BSD-2-Clause
// Slots of small spaces: names as the sheet lists them, and the area against a brute-force model.
#include "slots/area.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using slots::Area;
using slots::SlotMap;
using slots::SlotName;

TEST(SlotNames, AreTheManuals) {
    struct {
        Word n, size, at;
    } rows[] = {{0x01, 4, 0}, {0x03, 4, 4}, {0x05, 4, 8}, {0x07, 4, 12}, {0x1f, 4, 60}, {0x20, 128, 0}, {0x02, 8, 0},
        {0x06, 8, 8}, {0x04, 16, 0}, {0x0c, 16, 16}, {0x10, 64, 0}, {0x80, 512, 0}};
    for (auto r : rows) {
        SlotName s = SlotName::decode(r.n);
        EXPECT_EQ(s.size_mb, r.size) << r.n;
        EXPECT_EQ(s.offset_mb, r.at) << r.n;
    }
    for (Word n = 0; n < 256; ++n) EXPECT_EQ(SlotName::decode(n).encode(), n);
    for (Word n = 1; n < 256; ++n) {
        SlotName s = SlotName::decode(n);
        EXPECT_EQ(s.offset_mb % s.size_mb, 0u) << "aligned to its size";
    }
}

TEST(Areas, GiveOutWhatIsFreeAndInTheArea) {
    Area area;
    area.resize(64);
    EXPECT_FALSE(area.available(SlotName::decode(0), nullptr)) << "no slot at all";
    EXPECT_TRUE(area.available(SlotName::decode(0x10), nullptr));
    EXPECT_FALSE(area.available(SlotName::decode(0x20), nullptr)) << "128 MB in an area of 64";
    area.take(SlotName::decode(0x1f), nullptr);
    EXPECT_FALSE(area.available(SlotName::decode(0x10), nullptr));
    area.release(SlotName::decode(0x1f), nullptr);
    EXPECT_TRUE(area.available(SlotName::decode(0x10), nullptr));
}

// L95 4.1: one space of 3 GB beside 8 of 64 MB and 128 of 1 MB, in an area of 640 MB, in whatever order they come.
TEST(Areas, HoldTheExampleOf1995) {
    constexpr unsigned seed = 1995;
    RecordProperty("seed", seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 50; ++round) {
        std::vector<Word> sizes(8, 64);
        sizes.insert(sizes.end(), 128, 1);
        std::shuffle(sizes.begin(), sizes.end(), random);
        Area area;
        area.resize(640);
        for (Word size : sizes) {
            SlotName s = area.find(size, nullptr);
            ASSERT_EQ(s.size_mb, size);
            area.take(s, nullptr);
        }
        EXPECT_EQ(area.find(1, nullptr).size_mb, 0u) << "that was all of it";
    }
}

// The model's occupied slots are a list: an exclusive slot excludes all others, a bound one those of the same
// directory; a directory entry never serves both kinds, a place has one size in all directories that use it for bound
// slots, and the last quarter has none of these.
TEST(Areas, AgreeWithAModelOnRandomOperations) {
    constexpr unsigned seed = 2002, directories = 3, mb = 256;
    RecordProperty("seed", seed);
    std::mt19937 random(seed);
    struct Taken {
        SlotName slot;
        int directory;          // -1: exclusive
    };
    Area area;
    area.resize(mb);
    SlotMap maps[directories];
    std::vector<Taken> taken;
    auto map_of = [&](int directory) { return directory < 0 ? nullptr : &maps[directory]; };
    auto free = [&](SlotName s, int directory) {
        if (s.offset_mb + s.size_mb > (directory < 0 ? mb : mb * 3 / 4)) return false;
        for (auto& t : taken) {
            bool other_kind = (directory < 0) != (t.directory < 0);
            if (other_kind ? s.granules().overlaps(t.slot.granules()) : directory == t.directory && s.overlaps(t.slot))
                return false;
            if (directory >= 0 && t.directory >= 0 && s.offset_mb == t.slot.offset_mb && s.size_mb != t.slot.size_mb)
                return false;
        }
        return true;
    };
    for (int step = 0; step < 20000; ++step) {
        int directory = static_cast<int>(random() % (directories + 1)) - 1;
        Word size = 1u << random() % 7;
        if (!taken.empty() && random() % 2 == 0) {
            auto i = taken.begin() + static_cast<long>(random() % taken.size());
            area.release(i->slot, map_of(i->directory));
            taken.erase(i);
        } else if (random() % 4 == 0) {
            SlotName found = area.find(size, map_of(directory)), first{0, 0};
            for (Word at = 0; at < mb && !first.size_mb; at += size)
                if (free({at, size}, directory)) first = {at, size};
            ASSERT_EQ(found.size_mb, first.size_mb) << step;
            ASSERT_EQ(found.offset_mb, first.offset_mb) << step;
        } else {
            SlotName s{static_cast<Word>(random() % (mb / size)) * size, size};
            ASSERT_EQ(area.available(s, map_of(directory)), free(s, directory)) << step;
            if (!free(s, directory)) continue;
            area.take(s, map_of(directory));
            taken.push_back({s, directory});
        }
    }
}

}  // namespace
