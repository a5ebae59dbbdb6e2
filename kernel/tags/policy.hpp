// SPDX-License-Identifier: BSD-2-Clause
// Who gets a tag, and who loses it. The rules are the same for every port, which supplies the tags themselves
// (core/arch.hpp: give_tag, take_tag, tag_limit, take_switches). docs/tags.md explains them.
#pragma once

#include "core/space.hpp"

namespace tags {

// What the boot options automatic= and groups= allow.
struct Rules {
    bool automatic = true;      // the kernel gives tags by itself
    bool groups = true;         // also tags in the host of a single large space
};
extern Rules rules;

// The spaces whose tags are good in all hosts; the port keeps the list.
using Exclusives = List<Space, &Space::group_link>;
extern Exclusives exclusives;

// How many bytes from 0 a tag has to cover.
Word needed(const Space& space);
// SpaceControl has set its areas: it starts with a tag if it fits and one is free (L95 4.3). If it had one before, and they
// have been moved past it, it gets a larger one, or none.
void begin(Space& space);
// It needs the byte at `address`, beyond its tag, or one that is not known: it gets a larger tag, or none.
void outgrow(Space& space, VAddr address);
void outgrow(Space& space);
// From the clock: looks at a few spaces.
void look();
// The space goes away.
void forget(Space& space);

}  // namespace tags
