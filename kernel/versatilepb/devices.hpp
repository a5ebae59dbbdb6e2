// SPDX-License-Identifier: BSD-2-Clause
// Devices of the baseboard (its user guide, chapter 4), by their place in the one megabyte that is mapped.
#pragma once

#include "arm/layout.hpp"
#include "core/x2.hpp"

enum Device : Word { INTERRUPTS = 0x40000, TIMERS_0_1 = 0xe2000, UART0 = 0xf1000 };

inline volatile Word& device(Device d, Word offset) { return *reinterpret_cast<volatile Word*>(DEVICES + d + offset); }
