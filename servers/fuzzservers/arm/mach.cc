// SPDX-License-Identifier: BSD-2-Clause
// The server `mach` is not there for this processor.
#include "../attack.h"

namespace fuzz {

void attack_mach() {}
void attack_machs_boot() {}

} // namespace fuzz
