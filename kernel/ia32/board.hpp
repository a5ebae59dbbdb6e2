// SPDX-License-Identifier: BSD-2-Clause
// What a board with an IA-32 processor defines beside its part of core/arch.hpp (clock, interrupt lines, console, the
// end), and its loader (ia32/loader.hpp).
#pragma once

#include "core/x2.hpp"

namespace board {

// The serial line is set up before anything else.
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

}  // namespace board

namespace clock {
// Chooses the time-stamp counter where there is one; fills in what the interface page's stub needs.
void initialise();
void tick();
}
