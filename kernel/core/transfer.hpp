// SPDX-License-Identifier: BSD-2-Clause
// Moving one message (manual 5.1, 5.2): untyped words, then map and grant items, to whoever reads it.
#pragma once

#include "core/thread.hpp"

// Copies the message of `s` to `r`, as coming from `apparent`, and sets the result registers of a user-level receiver.
// False when an item does not fit (message overflow): what came before it has been transferred.
bool transfer(Thread& s, Thread& r, Thread& apparent);
