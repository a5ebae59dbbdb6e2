// SPDX-License-Identifier: BSD-2-Clause
// The PC's timer: the interrupt line and the period of its tick.
#pragma once

#include "core/schedule.hpp"

namespace board {

constexpr Word tick_line = 0;
constexpr Word tick_ns = 999847;        // 1193 periods of the timer's 1.193182 MHz
static_assert(tick_ns <= schedule::longest_tick * 1000);

}  // namespace board
