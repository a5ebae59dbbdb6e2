// SPDX-License-Identifier: BSD-2-Clause
// The Versatile baseboard's display controller, a PL110 (ARM DDI 0161, chapter 3) that has its control register where
// the PL111 has it (baseboard user guide, ARM DUI 0225, 4.6). It reads the memory that it shows by itself. How long
// lines and pictures last is a monitor's affair, which no emulator has: the board's clock is left as it is.
#include "../adapter.h"

#include <system/memory.h>

namespace adapter {
namespace {

using rpc::Word;

enum Register {
    timing_0 = 0x00,
    timing_1 = 0x04,
    timing_2 = 0x08,
    upper_base = 0x10,
    control = 0x18,
    interrupts = 0x1C
};
// Control: a panel of 24 bits a pixel, of which red comes in the higher bits.
constexpr Word enabled = 1 << 0, bits_32 = 5 << 1, thin_film = 1 << 5, red_high = 1 << 8, powered = 1 << 11;
constexpr Word unit = 16, most_width = 1024, most_height = 1024;
// Beside the picture, in pixels and lines: front porch, back porch, pulse.
constexpr Word porches = 23 << 24 | 47 << 16 | 63 << 8, line_porches = 33 << 24 | 10 << 16 | 1 << 10;
constexpr Word no_divider = 1 << 26; // the pixel clock is the board's

constinit volatile Word *base = nullptr;
constinit Word memory_at = 0;

volatile Word &at(Register r) { return base[r / sizeof *base]; }

} // namespace

const unsigned memory_range = 1;

bool begin()
{
    const auto device = cobnut::ask_init<init::FindDevice>();
    const auto registers = cobnut::map_range(0);
    if (!device || !registers) return false;
    memory_at = device.value.ranges[memory_range].first;
    base = reinterpret_cast<volatile Word *>(registers.value.address);
    off();
    at(interrupts) = 0;
    return memory_at != 0;
}

bool set_mode(unsigned width, unsigned height, size_t memory)
{
    if (!width || width % unit || width > most_width || !height || height > most_height) return false;
    if (size_t{width} * height * sizeof(Word) > memory) return false;
    off();
    at(timing_0) = porches | (width / unit - 1) << 2;
    at(timing_1) = line_porches | (height - 1);
    at(timing_2) = no_divider | (width - 1) << 16;
    at(upper_base) = memory_at;
    at(control) = enabled | bits_32 | thin_film | red_high | powered;
    return true;
}

void off() { at(control) = 0; }

} // namespace adapter
