// SPDX-License-Identifier: BSD-2-Clause
// The second serial port of a Versatile baseboard, a PL011 (ARM DDI 0183, chapter 3). The first one is the kernel's.
#include "../uart.h"

#include <system/memory.h>

namespace uart {
namespace {

enum Register {
    data = 0x00,
    flags = 0x18,
    integer_divisor = 0x24,
    fraction = 0x28,
    line_control = 0x2C,
    control = 0x30,
    interrupts = 0x38
};
enum Flag { receive_empty = 1 << 4, transmit_full = 1 << 5 };
enum Interrupt { receive = 1 << 4, receive_timeout = 1 << 6 };

constinit volatile L4_Word_t *base = nullptr;

volatile L4_Word_t &at(Register r) { return base[r / sizeof *base]; }

} // namespace

const unsigned line = 13;

bool begin()
{
    const auto registers = cobnut::map_range(0);
    if (!registers) return false;
    base = reinterpret_cast<volatile L4_Word_t *>(registers.value.address);
    at(control) = 0;
    at(integer_divisor) = 13; // 115,200 bit/s of 24 MHz
    at(fraction) = 1;
    at(line_control) = 0x70; // 8N1, FIFOs
    at(interrupts) = receive | receive_timeout;
    at(control) = 0x301; // on, both directions
    return true;
}

void put(char c)
{
    while (at(flags) & transmit_full) {}
    at(data) = static_cast<unsigned char>(c);
}

int get() { return at(flags) & receive_empty ? -1 : static_cast<int>(at(data) & 0xFF); }

} // namespace uart
