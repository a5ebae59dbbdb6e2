// SPDX-License-Identifier: BSD-2-Clause
// The rules by which spaces get slots and lose them (docs/tags.md). The port tells them what happens; they ask it for
// slots by slots/port.hpp.
#pragma once

#include "core/space.hpp"

namespace slots {

// What the boot options automatic= and groups= allow.
struct Rules {
    bool automatic = true;      // the kernel gives slots by itself
    bool groups = true;         // also bound ones
};
extern Rules rules;

// How many bytes from 0 a slot of the space has to cover.
Word needed(const Space& space);
// SpaceControl has set the space's areas: it starts with a slot if it fits in one that is free (L95 4.3). If it has one
// already, and the areas have been moved past it, it gets a larger one, or none.
void begin(Space& space);
// The space needs the byte at `address`, beyond its slot, or one that is not known: it gets a larger slot, or none.
void outgrow(Space& space, VAddr address);
void outgrow(Space& space);
// At each tick of the clock: looks at a few spaces.
void look();
// The space is to be taken off spaces::all. Takes its slot, or one of those that are bound to its page directory;
// true when there is none, and the rules know of it no more.
bool retire(Space& space);

}  // namespace slots
