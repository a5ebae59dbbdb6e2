// SPDX-License-Identifier: BSD-2-Clause
// What a board with an ARM processor defines, beside board_layout.hpp, and of core/arch.hpp the clock, the interrupt
// lines and the console.
#pragma once

#include "core/schedule.hpp"
#include "core/x2.hpp"

namespace board {

// The serial line works before anything else does, once DEVICES is mapped.
void initialise_console();
// Interrupt controller, timer tick, clock.
void initialise();
// The processor was interrupted; called with interrupts off.
void interrupt();
// Returns when the serial line has sent everything.
void finish_output();
// Ends the run with a number, 0 for success, where an emulator provides for that; stops the processor anyway.
[[noreturn]] void end(Word code);

constexpr Word tick_us = 1000;
static_assert(tick_us <= schedule::longest_tick);

}  // namespace board
