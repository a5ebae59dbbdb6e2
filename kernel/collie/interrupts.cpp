// SPDX-License-Identifier: BSD-2-Clause
// The interrupt controller and the OS timer; and what an interrupt means: a tick, or a message.
#include "arm/board.hpp"
#include "collie/devices.hpp"
#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/timekeeping.hpp"

namespace {

enum ControllerRegister : Word { irq_pending = 0x00, mask = 0x04, level = 0x08 };
enum TimerRegister : Word { match0 = 0x00, counter = 0x10, status = 0x14, enable = 0x1c };

constexpr Word tick_line = 26;                  // match 0
// The counter's 3.6864 MHz: 2304 counts are 625 microseconds.
constexpr Word counts = 2304, microseconds = 625;
constexpr Word tick_counts = board::tick_us * counts / microseconds;

volatile Word& controller(Word offset) { return device(INTERRUPTS, offset); }
volatile Word& timer(Word offset) { return device(OS_TIMER, offset); }

// The counter is read at least once in each tick.
Word last_count, rest;
Microseconds time;

// The match happens when the counter passes it: one that it has passed already would be a long time coming. A tick that
// has been missed is left out.
void set_match(Word next) {
    timer(match0) = next;
    while (static_cast<std::int32_t>(next - timer(counter)) <= 0) timer(match0) = next = timer(counter) + tick_counts;
}

void tick() {
    timer(status) = 1;
    set_match(timer(match0) + tick_counts);
    timekeeping::tick(board::tick_us);
}

}  // namespace

namespace board {

void initialise() {
    constexpr Word internal_khz = 206400, external_khz = 3686;
    controller(mask) = 0;
    controller(level) = 0;
    last_count = timer(counter);
    timer(status) = 0xf;
    // Before the match is set: one that is passed while it is not enabled is lost, and the next one is the counter's
    // whole turn away, 19 minutes.
    timer(enable) = 1;
    set_match(last_count + tick_counts);
    controller(mask) = 1u << tick_line;
    kip::kip.processor[0] = {external_khz, internal_khz, {}};
}

void interrupt() {
    Word pending = controller(irq_pending);
    if (!pending) return;
    if (pending & 1u << tick_line) return tick();
    Word line = static_cast<Word>(__builtin_ctz(pending));
    arch::mask_interrupt(line);
    if (Thread* t = threads::by_number(line)) ipc::interrupt(*t);
}

}  // namespace board

namespace arch {

Microseconds now() {
    Word count = timer(counter);
    rest += (count - last_count) * microseconds;
    last_count = count;
    time += rest / counts;
    rest %= counts;
    return time;
}

std::uint64_t ticks() { return now(); }
Word ticks_per_ms() { return 1000; }

bool interrupt_available(Word line) { return line < interrupt_lines && line != tick_line; }
void mask_interrupt(Word line) { controller(mask) = controller(mask) & ~(1u << line); }
void unmask_interrupt(Word line) { controller(mask) = controller(mask) | 1u << line; }

}  // namespace arch
