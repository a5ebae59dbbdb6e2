// SPDX-License-Identifier: BSD-2-Clause
// The segments that users hold, as a processor reads them: they reach no further than their space does.
#include "ia32/segments.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace {

using segments::Extent;

constexpr std::uint64_t top = std::uint64_t{1} << 32;
constexpr Word mb = 1u << 20;

// A segment by the offsets that are valid in it (volume 3, 3.4.5); first > last: none is.
struct Reach {
    VAddr base;
    std::uint64_t first, last;
};
Reach read(Descriptor d) {
    VAddr base = d.low >> 16 | (d.high & 0xff) << 16 | (d.high & 0xff000000);
    std::uint64_t limit = (d.low & 0xffff) | (d.high & 0xf0000);
    if (d.high & 1u << 23) limit = limit << 12 | 0xfff;
    if (!(d.high & 1u << 15)) return {base, 1, 0};
    bool down = (d.high & 3u << 10) == 1u << 10;
    return down ? Reach{base, limit + 1, top - 1} : Reach{base, 0, limit};
}
// The linear address of an offset, which wraps round.
std::uint64_t linear(const Reach& r, std::uint64_t offset) { return (r.base + offset) % top; }

class SegmentsTest : public testing::TestWithParam<Extent> {
protected:
    // Both ends of a segment lie in the extent, in this order, and so does all between them.
    static void expect_within(Descriptor d, Extent e) {
        Reach r = read(d);
        if (r.first > r.last) return;
        std::uint64_t first = linear(r, r.first), last = linear(r, r.last);
        EXPECT_GE(first, e.base);
        EXPECT_LT(last, std::uint64_t{e.base} + e.bytes);
        EXPECT_EQ(last - first, r.last - r.first);
    }
    // Offsets at both ends, and on both sides of each page and megabyte that is near to them or to the end of byte
    // granularity.
    template <typename Try> static void at_all_edges(Extent e, Try try_one) {
        for (Word edge :
            {Word{0}, page_size, mb, e.bytes / 2, e.bytes - mb, e.bytes - page_size, e.bytes, e.bytes + mb})
            for (Word page = 0; page <= 2; ++page)
                for (Word byte : {0u, 1u, 2u, 0x7ffu, page_mask}) {
                    try_one(edge + page * page_size + byte);
                    try_one(edge - page * page_size - byte);
                }
    }
};

TEST_P(SegmentsTest, CodeIsAllOfASpaceAndNothingElse) {
    Extent e = GetParam();
    Reach r = read(segments::code(e));
    EXPECT_EQ(linear(r, r.first), e.base);
    EXPECT_EQ(linear(r, r.last), e.base + e.bytes - 1);
}

TEST_P(SegmentsTest, DataStaysInTheSpaceWhereverItsBaseIs) {
    Extent e = GetParam();
    at_all_edges(e, [&](VAddr offset) {
        SCOPED_TRACE(offset);
        for (bool down : {false, true}) {
            Descriptor d = segments::data(e, offset, down);
            expect_within(d, e);
            EXPECT_TRUE(segments::within(d, e));
        }
    });
}

TEST_P(SegmentsTest, DataLosesLessThanAPage) {
    Extent e = GetParam();
    at_all_edges(e, [&](VAddr offset) {
        SCOPED_TRACE(offset);
        Reach up = read(segments::data(e, offset, false)), down = read(segments::data(e, offset, true));
        if (offset >= e.bytes) {
            EXPECT_GT(up.first, up.last);
            EXPECT_GT(down.first, down.last);
            return;
        }
        EXPECT_EQ(linear(up, 0), e.base + offset);
        EXPECT_GT(up.last + page_size, e.bytes - offset - 1);
        std::uint64_t below = down.first > down.last ? 0 : down.last - down.first + 1;
        EXPECT_GT(below + page_size, offset);
        if (!below) return;
        EXPECT_EQ(linear(down, down.last), e.base + offset - 1);
    });
}

INSTANTIATE_TEST_SUITE_P(Extents, SegmentsTest,
    testing::Values(Extent{0xd0000000, mb}, Extent{0xd0100000, mb}, Extent{0xd0200000, 2 * mb},
        Extent{0xe0000000, 256 * mb}, Extent{0, 0x70000000}, Extent{0, 0xc0000000}));

}  // namespace
