// SPDX-License-Identifier: BSD-2-Clause
// Where the kernel has put a program's space, and where its description wants it (docs/tags.md). What a slot is differs
// between processors, in a folder of each.
#pragma once

#include "description.h"

namespace init {

struct Slot {
    Word offset_mb, size_mb; ///< size 0: none, the space is large
    bool bound; ///< within a group's page directory only
};

/// The slot of a thread's space.
Slot slot_of(L4_ThreadId_t thread);

/// Asks the kernel for what the description says of the slot of a new space, if it says anything.
void make_slot(L4_ThreadId_t thread, const Description &description);

} // namespace init
