// SPDX-License-Identifier: BSD-2-Clause
// Groups: a large space, the leader, and its members, the spaces with slots bound to its page directory. Exclusive
// slots are good in all groups; the spaces with such are listed here, too.
#pragma once

#include "slots/port.hpp"

namespace slots {

// The spaces with exclusive slots.
extern Members exclusives;
// The spaces with slots of one kind: bound to a leader's page directory; or exclusive, without a leader.
inline Members& holders(Space* leader) { return leader ? of(*leader).group : exclusives; }

// Kept by the port: a space has got a slot of that kind; it has given its slot up.
void enter(Space& space, Space* leader);
void leave(Space& space);

// The first of a list, which becomes the last: a search goes on where the one before it ended. nullptr if there is
// none.
Space* next_of(Members& list);

}  // namespace slots
