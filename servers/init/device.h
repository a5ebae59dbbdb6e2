// SPDX-License-Identifier: BSD-2-Clause
// A device that describes itself on the machine's bus: its driver gets its ports, registers and interrupt, and no
// other's. What finds it is the bus's, in a folder of the processor.
#pragma once

#include <interfaces/init.h>

namespace init {

/// Where a device is on its bus, and what it has.
struct FoundDevice {
    Word place = ~0u; ///< of the bus; ~0: none
    Device has = {};
    explicit operator bool() const { return place != ~0u; }
};

/// The `number`th device, from 0, with an identity: the vendor in the lower half, the device in the upper one.
FoundDevice find_device(Word identity, Word number);

/// What a device may do on its bus: nothing, and not interrupt either; decode its addresses; use memory by itself, too.
enum class DeviceUse { none, decodes, masters };
void switch_device(const FoundDevice &device, DeviceUse use);

} // namespace init
