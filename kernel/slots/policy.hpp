// SPDX-License-Identifier: BSD-2-Clause
// The rules by which spaces get slots and lose them (docs/tags.md). The port calls them here; they ask it for slots by
// slots/port.hpp.
#pragma once

#include "core/space.hpp"

namespace slots {

// What the boot options automatic= and groups= allow.
struct Rules {
    bool automatic = true;      // the kernel gives slots unasked
    bool groups = true;         // also bound ones
};
extern Rules rules;

// How many bytes from 0 a slot of the space has to cover.
Word needed(const Space& space);
// SpaceControl has set the space's areas: the space starts with a slot if a free one holds them (L95 4.3). If it has a
// slot already and the areas have been moved past its end, it gets a larger one, or none.
void begin(Space& space);
// The space needs the byte at `address`, beyond its slot, or one that is not known: it gets a larger slot, or becomes
// large.
void outgrow(Space& space, VAddr address);
void outgrow(Space& space);
// Called at each tick of the clock: looks at a few spaces.
void look();
// Called before a space is removed from spaces::all. Takes its slot, or one of those bound to its page directory; true
// when none is left and the rules have forgotten the space.
bool retire(Space& space);

}  // namespace slots
