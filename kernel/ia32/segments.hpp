// SPDX-License-Identifier: BSD-2-Clause
// The segments that users hold, all computed here from the space's slot. None reaches past it, whatever its base.
#pragma once

#include "ia32/descriptors.hpp"

struct Space;

namespace segments {

// Part of the linear address space. Neither wraps round.
struct Extent {
    VAddr base;
    Word bytes;
};
// What the segments of a space may reach: its slot, or what is left to large spaces.
Extent reach(const Space& space);

constexpr Word user_segment = desc_32bit | desc_present | desc_user;
constexpr Descriptor empty{0, 0};

// All of it, to execute; a multiple of a page.
constexpr Descriptor code(Extent e) { return segment(e.base, e.bytes - 1, user_segment | desc_granular | desc_code); }

// From `offset` to its end; or, `down`, from its beginning to there, but for the page that the limit is cut to: offsets
// from 2^32 - `offset` on. Empty, and not present, where the base is not inside.
constexpr Descriptor data(Extent e, VAddr offset, bool down) {
    constexpr Word large = 1u << 20;
    if (offset >= e.bytes) return empty;
    VAddr base = e.base + offset;
    if (down) return segment(base, ~offset, user_segment | desc_granular | desc_data_down);
    Word bytes = e.bytes - offset;
    if (bytes < large) return segment(base, bytes - 1, user_segment | desc_data);
    return segment(base, bytes - page_size, user_segment | desc_granular | desc_data);
}

// Whether a user's descriptor, as the processor reads it, reaches nothing else.
constexpr bool within(Descriptor d, Extent e) {
    if (!(d.high & desc_present)) return true;
    VAddr base = d.low >> 16 | (d.high & 0xff) << 16 | (d.high & 0xff000000);
    Word limit = (d.low & 0xffff) | (d.high & 0xf0000);
    if (d.high & desc_granular) limit = limit << 12 | page_mask;
    Word first = base - e.base, last = first + limit;
    if ((d.high & (desc_code_not_data | desc_expands_down)) == desc_expands_down) {
        if (limit == ~Word{0}) return true;
        first = last + 1, last = base - 1 - e.base;
    }
    return first <= last && last < e.bytes;
}

}  // namespace segments
