// SPDX-License-Identifier: BSD-2-Clause
// The vectored interrupt controller (PL190), used without its vectors, and the secondary one behind it; the timers
// (SP804) for ticks and time; and what an interrupt means: a tick, or a message.
#include "arm/board.hpp"
#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/timekeeping.hpp"
#include "versatilepb/devices.hpp"

namespace {

enum ControllerRegister : Word { irq_status = 0x00, select = 0x0c, enable = 0x10, enable_clear = 0x14 };
// The secondary controller (user guide, 4.10.1): 21 to 30 of its lines can reach the first one's lines of the same
// numbers, as they are. Others are one there, line 31, if they are enabled: keyboard and mouse.
enum SecondaryRegister : Word { secondary_enable = 0x08, secondary_clear = 0x0c, pass_on = 0x20 };
constexpr Word passed_on = 0x7fe00000, keyboard_and_mouse = 1u << 3 | 1u << 4;
// Each block has two timers; the second is 0x20 further on. They count at 1 MHz.
enum TimerRegister : Word { load = 0x00, value = 0x04, control = 0x08, clear = 0x0c, second_timer = 0x20 };
enum TimerControl : Word { timer_32bit = 2, timer_interrupt = 0x20, timer_periodic = 0x40, timer_on = 0x80 };

constexpr Word tick_line = 4;                   // timers 0 and 1

volatile Word& controller(Word offset) { return device(INTERRUPTS, offset); }
volatile Word& secondary(Word offset) { return device(SECONDARY_INTERRUPTS, offset); }
volatile Word& timer(Word offset) { return device(TIMERS_0_1, offset); }

// Timer 1 counts down and around, and is read at least once in each tick.
Word last_count;
Microseconds time;

void tick() {
    timer(clear) = 0;
    timekeeping::tick(board::tick_us);
}

}  // namespace

namespace board {

void initialise() {
    constexpr Word khz = 200000;                // of the processor, as the board is delivered
    controller(enable_clear) = ~Word{0};
    controller(select) = 0;
    secondary(secondary_clear) = ~Word{0};
    secondary(secondary_enable) = keyboard_and_mouse;
    secondary(pass_on) = passed_on;
    timer(second_timer + load) = ~Word{0};
    timer(second_timer + control) = timer_32bit | timer_on;
    last_count = timer(second_timer + value);
    timer(load) = tick_us;
    timer(control) = timer_32bit | timer_periodic | timer_interrupt | timer_on;
    controller(enable) = 1u << tick_line;
    kip::kip.processor[0] = {khz, khz, {}};
}

void interrupt() {
    Word pending = controller(irq_status);
    if (!pending) return;
    Word line = static_cast<Word>(__builtin_ctz(pending));
    if (line == tick_line) return tick();
    arch::mask_interrupt(line);
    if (Thread* t = threads::by_number(line)) ipc::interrupt(*t);
}

}  // namespace board

namespace arch {

Microseconds now() {
    Word count = timer(second_timer + value);
    time += last_count - count;
    last_count = count;
    return time;
}

// Nothing counts faster.
std::uint64_t ticks() { return now(); }
Word ticks_per_ms() { return 1000; }

bool interrupt_available(Word line) { return line < interrupt_lines && line != tick_line; }
void mask_interrupt(Word line) { controller(enable_clear) = 1u << line; }
void unmask_interrupt(Word line) { controller(enable) = 1u << line; }

}  // namespace arch
