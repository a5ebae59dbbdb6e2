// SPDX-License-Identifier: BSD-2-Clause
// What slots/ keeps of a space. The port has one in its part of each space, zero at first (slots/port.hpp: of()).
#pragma once

#include "core/list.hpp"
#include "core/x2.hpp"

struct Space;

namespace slots {

// Where a space has its link among those of a group (slots/port.hpp).
struct InGroup {
    Link<Space>& operator()(Space& space) const;
};
using Members = List<Space, InGroup{}>;

struct State {
    // What the rules know (slots/policy.cpp).
    bool pinned;                    // SpaceControl has asked for its slot, or for none: rules do not apply
    Word gain;                      // decayed count of switches to it: the value of a slot for it
    ThreadId candidate;             // majority vote: a thread of the partner last met in the host that leads
    Word votes;                     // how many votes that host is ahead; 0: there is no candidate
    Word met;                       // the set of recent partners, by a hash
    Word skips;                     // looks left in which it does not seek a slot
    // Its place in a group (slots/groups.hpp).
    Space* leader;                  // the large space whose page directory its slot is bound to; nullptr: none
    Link<Space> link;               // among those that are bound there, or among those with exclusive slots
    Members group;                  // those that are bound to its own page directory
};

}  // namespace slots
