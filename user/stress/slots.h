// SPDX-License-Identifier: BSD-2-Clause
// The small-space slots that all families share, and who was in them last.
#ifndef COBNUT_STRESS_SLOTS_H
#define COBNUT_STRESS_SLOTS_H
#include "model.h"

namespace stress::slots {

inline constexpr Word pool_mb = 64, granule_mb = 4;

/// A name of SpaceControl's: its lowest bit is the size in 4 MB, the others twice that unit's place.
constexpr Word size_of(Word number) { return (number & -number) * 4 << 20; }
constexpr Word base_of(Word number) { return (number & (number - 1)) * 2 << 20; }

/// Numbers the spaces that come into being.
Word next_incarnation();
/// A space moves in; true if another was there before in any part of the slot.
bool move_in(Word number, Word incarnation);

} // namespace stress::slots
#endif
