// SPDX-License-Identifier: BSD-2-Clause
// A clock that goes on while the machine is off: the time to the second, and an interrupt when a second begins. ia32/
// and arm/ have one each.
#pragma once

namespace rtc {

/// Its interrupt.
extern const unsigned line;

/// Finds it, and lets it interrupt when a second begins.
bool begin();
/// Seconds since 1970. False if it says no time.
bool read(unsigned &seconds);
/// Ends its interrupt; true if a second has begun.
bool acknowledge();

} // namespace rtc
