// SPDX-License-Identifier: BSD-2-Clause
// Devices of the baseboard (its user guide, chapter 4), by their place in the two megabytes that are mapped.
#pragma once

#include "arm/layout.hpp"
#include "core/x2.hpp"

enum Device : Word { SECONDARY_INTERRUPTS = 0x3000, INTERRUPTS = 0x140000, TIMERS_0_1 = 0x1e2000, UART0 = 0x1f1000 };

inline volatile Word& device(Device d, Word offset) { return *reinterpret_cast<volatile Word*>(DEVICES + d + offset); }
