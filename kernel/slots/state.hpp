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
    ThreadId partners[2];           // its last two partners: threads of other spaces from which it was switched to
    Word spread;                    // how often a partner was neither of the last two: 0 never .. 256 always
    Word met, met_before;  // a bit for each partner, by a hash, in this period of notes and in the one before
    Word notes;  // how often a partner was noted
    Word misplaced;  // at how many looks in a row it has preferred another host
    Word skips;  // at how many looks it is still to seek no slot
    // Its place in a group (slots/groups.hpp).
    Space* leader;  // the large space whose page directory its slot is bound to; nullptr: none
    Link<Space> link;  // among those that are bound there, or among those with exclusive slots
    Members group;  // those that are bound to its own page directory
};

}  // namespace slots
