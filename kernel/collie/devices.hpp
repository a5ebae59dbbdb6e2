// SPDX-License-Identifier: BSD-2-Clause
// Devices of the SA-1110 (its developer's manual, chapters 9 and 11), by their place behind DEVICES.
#pragma once

#include "arm/layout.hpp"
#include "core/x2.hpp"

enum Device : Word { UART1 = 0x10000, OS_TIMER = 0x100000, INTERRUPTS = 0x150000 };

inline volatile Word& device(Device d, Word offset) { return *reinterpret_cast<volatile Word*>(DEVICES + d + offset); }
