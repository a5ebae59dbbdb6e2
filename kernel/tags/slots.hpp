// SPDX-License-Identifier: BSD-2-Clause
// Small-space slots: which parts of the small-space area are taken, and how SpaceControl's control word names them
// (sheet 7). Rules only, no hardware: also compiled on the host. All sizes in MB.
#pragma once

#include "core/x2.hpp"

namespace tags {

// A slot as the control word can name it: 4 MB << k at a multiple of its size.
struct SlotName {
    Word offset_mb;
    Word size_mb;

    // n = 0 names no slot: size 0.
    static constexpr SlotName decode(Word n) {
        n &= 0xff;
        if (!n) return {0, 0};
        Word lowest = n & -n;
        return {(n & ~lowest) * 2, lowest * 4};
    }
    constexpr Word encode() const { return size_mb ? (offset_mb / 2 | size_mb / 4) & 0xff : 0; }
    constexpr bool operator==(const SlotName&) const = default;
};

class SlotMap {
public:
    static constexpr Word granule_mb = 4;           // a page directory entry
    static constexpr Word area_max_mb = 2048;

    constexpr void resize(Word area_mb) { granules_ = area_mb / granule_mb; }
    constexpr Word area_mb() const { return granules_ * granule_mb; }

    // True if all of the slot lies in the area and is free, or belongs to `own`, which would give that up.
    constexpr bool available(SlotName s, SlotName own = {0, 0}) const {
        if (!s.size_mb || s.offset_mb + s.size_mb > area_mb()) return false;
        for (Word g = s.offset_mb / granule_mb; g < (s.offset_mb + s.size_mb) / granule_mb; ++g) {
            bool mine = own.size_mb && g >= own.offset_mb / granule_mb && g < (own.offset_mb + own.size_mb) / granule_mb;
            if (taken(g) && !mine) return false;
        }
        return true;
    }
    constexpr void take(SlotName s) { mark(s, true); }
    constexpr void release(SlotName s) { mark(s, false); }

private:
    constexpr bool taken(Word g) const { return taken_[g / 32] >> g % 32 & 1; }
    constexpr void mark(SlotName s, bool take) {
        for (Word g = s.offset_mb / granule_mb; g < (s.offset_mb + s.size_mb) / granule_mb; ++g)
            take ? taken_[g / 32] |= 1u << g % 32 : taken_[g / 32] &= ~(1u << g % 32);
    }

    Word granules_ = 0;
    Word taken_[area_max_mb / granule_mb / 32] = {};
};

static_assert(SlotName::decode(0x1f) == SlotName{60, 4});
static_assert(SlotName::decode(0x0c) == SlotName{16, 16});
static_assert(SlotName::decode(0x80) == SlotName{0, 512});
static_assert(SlotName{16, 16}.encode() == 0x0c && SlotName{0, 256}.encode() == 0x40);

}  // namespace tags
