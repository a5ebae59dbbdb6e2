// SPDX-License-Identifier: BSD-2-Clause
// The contract between the rules about slots and the port that has slots: what the rules ask of it. The port is IA-32,
// or the host's tests. It calls the rules (slots/policy.hpp) and keeps the lists of slots/groups.hpp.
#pragma once

#include "core/space.hpp"
#include "slots/state.hpp"

namespace slots {

// A port keeps the state in its part of a space.
inline State& of(Space& space) { return space.arch.slots; }
inline const State& of(const Space& space) { return space.arch.slots; }
inline Link<Space>& InGroup::operator()(Space& space) const { return of(space).link; }

// How many bytes from 0 a space can address in its slot; 0: it is large.
VAddr slot_limit(const Space& space);
// Gives a space a slot of that many bytes or more, in exchange for its present one: an exclusive slot, or, with a
// leader, one bound to that space's page directory. False if none is free, and nothing has changed; or if memory is
// exhausted, and the space may have become large.
bool give_slot(Space& space, Word bytes, Space* leader);
// The space becomes large.
void take_slot(Space& space);
// Whether bound slots could take the place of a space's exclusive one.
bool bindable(const Space& space);
// The number of switches to a space from others since the last call; and the thread that ran before the last of these.
Word take_switches(Space& space);
ThreadId partner(const Space& space);

}  // namespace slots
