// SPDX-License-Identifier: BSD-2-Clause
// Small spaces on IA-32: their slots in the linear address space, and the invalidations when a slot changes hands.
// slots/policy.hpp decides which spaces get slots.
#pragma once

#include "core/space.hpp"

namespace small_space {

// The size of the area below the kernel, in MB: a multiple of 64, at most 2048. At boot.
void initialise(Word area_mb);
extern VAddr first_of_area, behind_large;
inline VAddr area_start() { return first_of_area; }
// The first linear address that no large space may use.
inline VAddr large_limit() { return behind_large; }

// Segments and host of a space without a slot.
void make_large(Space& space);
// Copies the directory entry for `address` of a small space into the host in force; false if it was copied already, or
// is empty.
bool copy_entry(Space& space, VAddr address);
// Gives up the slot, if any: no translation is cached, and no entry copied, afterwards.
void release(Space& space);

}  // namespace small_space
