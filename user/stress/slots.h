// SPDX-License-Identifier: BSD-2-Clause
// The small-space slots that all families share, and which space was in them last.
#ifndef COBNUT_STRESS_SLOTS_H
#define COBNUT_STRESS_SLOTS_H
#include "model.h"

namespace stress::slots {

/// Named slots are asked for in the first `pool_mb`, the sizes that names have begin at `granule_mb`.
inline constexpr Word pool_mb = 64, granule_mb = 4, area_most_mb = 2048;

/// Where a space is in the area for small spaces; size 0: nowhere, it is large.
struct Slot {
    Word offset_mb = 0, size_mb = 0;

    bool operator==(const Slot &) const = default;
    bool overlaps(Slot o) const
    {
        return size_mb && o.size_mb && offset_mb < o.offset_mb + o.size_mb && o.offset_mb < offset_mb + size_mb;
    }
};

/// The name that SpaceControl has for a slot: its lowest bit is the size in 4 MB, the others twice that unit's place. 0
/// for one that has none.
constexpr Word name_of(Slot slot)
{
    const bool named = slot.size_mb >= granule_mb && slot.offset_mb + slot.size_mb <= 512;
    return named ? slot.offset_mb / 2 | slot.size_mb / 4 : 0;
}

/// Numbers the spaces that come into being.
Word next_incarnation();
/// A space moves in; true if another was there before in any part of the slot.
bool move_in(Slot slot, Word incarnation);

} // namespace stress::slots
#endif
