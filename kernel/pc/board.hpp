// SPDX-License-Identifier: BSD-2-Clause
// The PC as a board: interrupt controllers, timer, serial line, and how it is switched off.
#pragma once

#include "core/schedule.hpp"
#include "core/x2.hpp"

namespace board {

// The serial line works before anything else does.
void initialise_console();
// True for the ports by which a program prints and reads at the debug console: sending and receiving a character, and
// asking whether that is possible.
bool console_port(Word port, bool write);
// Interrupt controllers and the timer tick.
void initialise();
// One interrupt line has fired; called with interrupts off.
void interrupt(Word line);
// Processor ticks in a millisecond by the timer, for calibration.
Word tsc_ticks_per_ms();

constexpr Word tick_line = 0;
constexpr Word tick_ns = 999847;        // 1193 periods of the timer's 1.193182 MHz
static_assert(tick_ns <= schedule::longest_tick * 1000);

}  // namespace board

namespace clock {
// Chooses the time-stamp counter where there is one; fills in what the interface page's stub needs.
void initialise();
void tick();
}
