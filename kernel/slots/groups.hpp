// SPDX-License-Identifier: BSD-2-Clause
// Groups: a large space, the leader, and its members, the spaces with slots bound to its page directory. Spaces with
// exclusive slots belong to all groups and are listed here, too. The port updates the lists, not the rules:
// SpaceControl also gives and takes slots, and a list has to change together with the area's maps and the page tables,
// in the one place where a slot changes hands (ia32/small_space.cpp: enter_slot, release).
#pragma once

#include "slots/port.hpp"

namespace slots {

// The spaces with exclusive slots.
extern Members exclusives;
// The spaces with slots bound to a leader's page directory; without a leader, those with exclusive slots.
inline Members& holders(Space* leader) { return leader ? of(*leader).group : exclusives; }

// Called by the port when a space has got a slot of that kind, and when it gives its slot up.
void enter(Space& space, Space* leader);
void leave(Space& space);

// Rotates a list and returns its former first element, so that a search continues where the last one ended; nullptr if
// the list is empty.
Space* next_of(Members& list);

}  // namespace slots
