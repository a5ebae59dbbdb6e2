// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/segments.hpp"

#include "core/space.hpp"
#include "ia32/small_space.hpp"

namespace segments {

Extent reach(const Space& space) {
    const Slot& slot = space.arch.slot;
    return {slot.base, slot.small() ? slot.size : small_space::large_limit()};
}

namespace {

// At each end, on both sides of a page and of the granularity's change, and past the end.
constexpr bool tls_stays_within(Extent e) {
    constexpr Word mb = 1u << 20;
    const VAddr offsets[] = {0, 1, page_mask, page_size, mb - 1, mb, mb + 1, e.bytes - mb, e.bytes - mb + 1,
        e.bytes - page_size, e.bytes - 1, e.bytes, e.bytes + 1, e.bytes + mb, 2 * e.bytes, 0xc0000000, ~0u};
    for (VAddr offset : offsets)
        if (!within(data(e, offset, false), e) || !within(data(e, offset, true), e)) return false;
    return true;
}
constexpr Extent small{0xd0100000, 1u << 20}, longer{0xd0200000, 2u << 20}, large{0, 0xc0000000};
static_assert(tls_stays_within(small) && tls_stays_within(longer) && tls_stays_within(large));
static_assert(within(code(small), small) && within(code(large), large) && !within(code(longer), small));
static_assert(!within(code(large), small) && !within(code({0, 0xf0000000}), large));
static_assert(!within(data({longer.base, 4u << 20}, 3u << 20, false), longer) &&
              !within(data({longer.base, 4u << 20}, 3u << 20, true), longer));

}  // namespace

}  // namespace segments
