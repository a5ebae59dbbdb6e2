// SPDX-License-Identifier: BSD-2-Clause
// The controller of keyboard and mouse of a PC, an 8042: bytes of both come in through one port, and its status says
// from which.
#pragma once

namespace ps2 {

constexpr unsigned keyboard_line = 1, mouse_line = 12;

/// Switches both on. Codes of keys come as those of set 1. A mouse that is not there stays silent.
void begin();

struct Byte {
    bool there, of_mouse;
    unsigned char value;
};
/// The next byte, if there is one.
Byte get();

} // namespace ps2
