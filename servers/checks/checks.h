// SPDX-License-Identifier: BSD-2-Clause
// What the files of the checks share.
#pragma once

#include <system/check.h>
#include <system/system.h>

namespace checks {

/// Checks of a board's devices, as the description has them for it: in a folder of the processor.
void devices();

} // namespace checks
