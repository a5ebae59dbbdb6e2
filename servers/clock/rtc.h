// SPDX-License-Identifier: BSD-2-Clause
// The real-time clock of a PC, an MC146818: the date to the second, and an interrupt when a second begins.
#pragma once

#include <system/calendar.h>

namespace rtc {

constexpr unsigned line = 8;

/// Lets it interrupt when a second begins.
void begin();
/// The date. False if it says none.
bool read(cobnut::Date &date);
/// Ends its interrupt; true if a second has begun.
bool acknowledge();

} // namespace rtc
