// SPDX-License-Identifier: BSD-2-Clause
// There is no bus on which devices describe themselves: descriptions say where their registers are.
#include "../device.h"

namespace init {

FoundDevice find_device(Word, Word) { return {}; }
void switch_device(const FoundDevice &, DeviceUse) {}

} // namespace init
