// SPDX-License-Identifier: BSD-2-Clause
// Slots of small spaces: names as the sheet lists them, and the map of what is taken against a brute-force model.
#include "tags/slots.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using tags::SlotMap;
using tags::SlotName;

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

TEST(SlotMaps, GiveOutWhatIsFreeAndInTheArea) {
    SlotMap map;
    map.resize(64);
    EXPECT_FALSE(map.available(SlotName::decode(0))) << "no slot at all";
    EXPECT_TRUE(map.available(SlotName::decode(0x10)));
    EXPECT_FALSE(map.available(SlotName::decode(0x20))) << "128 MB in an area of 64";
    map.take(SlotName::decode(0x1f));
    EXPECT_FALSE(map.available(SlotName::decode(0x10)));
    EXPECT_TRUE(map.available(SlotName::decode(0x10), SlotName::decode(0x1f))) << "only its own part is taken";
    map.release(SlotName::decode(0x1f));
    EXPECT_TRUE(map.available(SlotName::decode(0x10)));
}

TEST(SlotMaps, AgreeWithAModelOnRandomOperations) {
    constexpr unsigned seed = 2002;
    RecordProperty("seed", seed);
    std::mt19937 random(seed);
    SlotMap map;
    map.resize(512);
    std::vector<SlotName> taken;
    auto overlaps = [](SlotName a, SlotName b) {
        return a.offset_mb < b.offset_mb + b.size_mb && b.offset_mb < a.offset_mb + a.size_mb;
    };
    for (int step = 0; step < 20000; ++step) {
        if (!taken.empty() && random() % 3 == 0) {
            auto i = taken.begin() + static_cast<long>(random() % taken.size());
            map.release(*i);
            taken.erase(i);
        } else {
            SlotName s = SlotName::decode(1 + random() % 255);
            bool free = s.offset_mb + s.size_mb <= 512;
            for (SlotName t : taken) free = free && !overlaps(s, t);
            ASSERT_EQ(map.available(s), free) << step;
            if (free) {
                map.take(s);
                taken.push_back(s);
            }
        }
    }
}

}  // namespace
