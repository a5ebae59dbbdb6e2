// SPDX-License-Identifier: BSD-2-Clause
// What shows pixels: modes of 32 bits a pixel, line behind line from the start of the memory that is shown. ia32/ and
// arm/ have one each.
#pragma once

#include <stddef.h>

namespace adapter {

/// The memory that is shown, as a range of the device (init::FindDevice).
extern const unsigned memory_range;

/// Whether there is one.
bool begin();
/// Shows `width` by `height` pixels out of that memory, which has so many bytes. False if it cannot.
bool set_mode(unsigned width, unsigned height, size_t memory);
/// Shows nothing any more.
void off();

} // namespace adapter
