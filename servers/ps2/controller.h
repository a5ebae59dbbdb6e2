// SPDX-License-Identifier: BSD-2-Clause
// What keyboard and mouse are connected to; ia32/ and arm/ have one each.
#pragma once

namespace ps2 {

/// Interrupts that end with the last byte, whichever device it is from.
extern const unsigned lines[], line_count;

/// Switches both on; false if the program may not use them. Codes of keys come as those of set 1. A mouse that is not
/// there stays silent.
bool begin();

struct Byte {
    bool there, of_mouse;
    unsigned char value;
};
/// The next byte, if there is one.
Byte get();

} // namespace ps2
