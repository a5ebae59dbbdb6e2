// SPDX-License-Identifier: BSD-2-Clause
// What the checked kernel asserts (core/check.hpp) whenever it is entered from a user thread and left for one: true,
// unless one of the checks in them fails. The ordinary kernel does not have them.
#pragma once

#include "core/check.hpp"
#include "core/thread.hpp"

namespace checks {

// `t` is the running thread.
bool runs(const Thread& t);
// It has just entered the kernel, not by the fast path.
bool entered(const Thread& t);
// The kernel is about to be left for it: whatever confines it to its space is in force.
bool leaves(const Thread& t);

// The port's part of that.
Word stack_top();
bool in_user_mode(const Thread& t);         // by its saved flags, which let interrupts in
bool confined(const Thread& t);             // by the processor's own registers and tables

}  // namespace checks
