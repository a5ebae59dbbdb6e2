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
    bool pinned;                    // SpaceControl has asked for the slot that it has, or for none
    Word gain;                      // switches to it, those of late counting more: what a slot is worth to it
    ThreadId candidate;             // a partner: a thread of another space from which it was switched to
    Word votes;                     // how many more its host has had than others; 0: there is no candidate
    Word met;                       // a bit for each partner of late, by a hash
    Word skips;                     // at how many looks it is still to seek no slot
    // Its place in a group (slots/groups.hpp).
    Space* leader;                  // the large space whose page directory its slot is bound to; nullptr: none
    Link<Space> link;               // among those that are bound there, or among those with exclusive slots
    Members group;                  // those that are bound to its own page directory
};

}  // namespace slots
