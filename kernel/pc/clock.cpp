// SPDX-License-Identifier: BSD-2-Clause
// Time since the boot, in microseconds: from the time-stamp counter, calibrated against the timer, or from its ticks.
// User programs read the same clock through the stub in the interface page (ia32/kip.S).
#include "core/arch.hpp"
#include "core/kip.hpp"
#include "ia32/board.hpp"
#include "ia32/cpu.hpp"
#include "pc/timer.hpp"

extern "C" {
// In the interface page.
extern std::uint64_t clock_tsc_base, clock_ticks;
extern Word clock_tsc_scale;
extern char stub_clock_tsc[], stub_clock_ticks[];
}

namespace clock {
namespace {

Word nanoseconds;               // below a microsecond; the rest is in clock_ticks

// numerator * 2^32 / divisor, for numerator < divisor (there is no run-time library for 64-bit division).
Word fraction(Word numerator, Word divisor) {
    Word quotient, remainder;
    asm("divl %4" : "=a"(quotient), "=d"(remainder) : "a"(0), "d"(numerator), "r"(divisor));
    return quotient;
}

}  // namespace

void initialise() {
    constexpr Word unknown_khz = 25000;
    constexpr Word us_per_ms = 1000;
    // Schedule precision: one tick.
    Word precision = Time::from_us(board::tick_ns / 1000).raw;
    Word read_precision = precision;
    Word khz = unknown_khz;
    kip::kip.system_clock = kip::offset(stub_clock_ticks);
    // A counter that ticks less than once a microsecond is too coarse.
    if (cpu::features.tsc && (cpu::features.tsc = (khz = board::tsc_ticks_per_ms()) > us_per_ms)) {
        clock_tsc_scale = fraction(us_per_ms, khz);
        clock_tsc_base = cpu::rdtsc();
        kip::kip.system_clock = kip::offset(stub_clock_tsc);
        read_precision = Time::from_us(1).raw;
    }
    kip::kip.clock_info = precision << 16 | read_precision;
    kip::kip.processor[0] = {khz, khz, {}};
}

void tick() {
    // Written only where it is read: the page also holds code, and writing to it costs emulators dear.
    if (cpu::features.tsc) return;
    nanoseconds += board::tick_ns % 1000;
    clock_ticks += board::tick_ns / 1000 + nanoseconds / 1000;
    nanoseconds %= 1000;
}

}  // namespace clock

namespace arch {

Microseconds now() {
    if (!cpu::features.tsc) return clock_ticks;
    std::uint64_t ticks = cpu::rdtsc() - clock_tsc_base;
    return ((ticks & 0xffffffff) * clock_tsc_scale >> 32) + (ticks >> 32) * clock_tsc_scale;
}

std::uint64_t ticks() { return cpu::features.tsc ? cpu::rdtsc() : clock_ticks; }
Word ticks_per_ms() { return cpu::features.tsc ? kip::kip.processor[0].internal_khz : 1000; }

}  // namespace arch
