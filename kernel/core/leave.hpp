// SPDX-License-Identifier: BSD-2-Clause
// The way out of the kernel, the same for every entry and every port.
#pragma once

#include "core/thread.hpp"

// Does what the kernel has left to do for the threads that are to run, in the order of their priorities, and enters the
// first for which nothing is left. Returns it; nullptr while there is nobody.
Thread* leave();
