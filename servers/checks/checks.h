// SPDX-License-Identifier: BSD-2-Clause
// What the checks share.
#pragma once

#include <system/system.h>

namespace checks {

/// One line; a check that does not hold is a failure.
void check(bool holds, const char *what);

/// Checks of a board's devices, as the description has them for it: in a folder of the processor.
void devices();

} // namespace checks
