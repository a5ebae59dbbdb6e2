// SPDX-License-Identifier: BSD-2-Clause
// The contract between the rules about slots and the port that has slots: what the rules ask, and what they tell to be
// done. The port is IA-32, or the host's tests. What the port tells the rules: slots/policy.hpp.
#pragma once

#include "core/space.hpp"
#include "slots/state.hpp"

namespace slots {

// The port's part of a space has it.
inline State& of(Space& space) { return space.arch.slots; }
inline const State& of(const Space& space) { return space.arch.slots; }
inline Link<Space>& InGroup::operator()(Space& space) const { return of(space).link; }

// How many bytes from 0 a space can address in its slot; 0: it is large.
VAddr slot_limit(const Space& space);
// Gives a space a slot of that many bytes or more, in exchange for the one that it has: an exclusive one, or, if there
// is a leader, one bound to that space's page directory. False if there is none free, and nothing has changed; or if
// memory is exhausted, and it may have none.
bool give_slot(Space& space, Word bytes, Space* leader);
// The space becomes large.
void take_slot(Space& space);
// Whether bound slots could take the place of a space's exclusive one.
bool bindable(const Space& space);
// Switches to a space from others since this was last asked; and the thread that was left at the last one.
Word take_switches(Space& space);
ThreadId partner(const Space& space);

}  // namespace slots
