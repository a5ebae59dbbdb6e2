// SPDX-License-Identifier: BSD-2-Clause
// The Bochs display interface: a mode is some registers behind two ports (VBE_DISPI_* of Bochs' vga.h, which QEMU's
// docs/specs/standard-vga.rst names, too).
#pragma once

#include <stddef.h>

namespace dispi {

/// Whether there is one.
bool present();
/// Shows `width` by `height` pixels of 32 bits, line behind line from the start of the display's memory, which has so
/// many bytes. False if it cannot.
bool set_mode(unsigned width, unsigned height, size_t memory);
/// Shows nothing any more.
void off();

} // namespace dispi
