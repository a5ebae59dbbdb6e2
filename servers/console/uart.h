// SPDX-License-Identifier: BSD-2-Clause
// A serial port, as the console's driver uses it; ia32/ and arm/ have one each.
#pragma once

namespace uart {

/// Its interrupt.
extern const unsigned line;

/// Lets it interrupt for what arrives; false if the program may not use it.
bool begin();
/// Waits until it takes a character.
void put(char c);
/// The next character that has arrived; -1: none. The interrupt ends with the last one.
int get();

} // namespace uart
