// SPDX-License-Identifier: BSD-2-Clause
// The debug console: the first serial port (PL011), polled.
#include "arm/board.hpp"
#include "core/arch.hpp"
#include "versatilepb/devices.hpp"

namespace {

enum UartRegister : Word {
    data = 0x00,
    flags = 0x18,
    integer_divisor = 0x24,
    fraction = 0x28,
    line_control = 0x2c,
    control = 0x30
};
enum UartFlags : Word { busy = 1u << 3, receive_empty = 1u << 4, transmit_full = 1u << 5 };

volatile Word& uart(Word offset) { return device(UART0, offset); }

}  // namespace

namespace board {

void initialise_console() {
    uart(control) = 0;
    uart(integer_divisor) = 13;                 // 115,200 bit/s of 24 MHz
    uart(fraction) = 1;
    uart(line_control) = 0x70;                  // 8N1, FIFOs
    uart(control) = 0x301;                      // on, both directions
}

void finish_output() {
    while (uart(flags) & busy) {}
}

}  // namespace board

namespace arch {

bool console_ready() { return !(uart(flags) & transmit_full); }

void console_put(char c) {
    while (!console_ready()) {}
    uart(data) = static_cast<unsigned char>(c);
}

int console_get() { return uart(flags) & receive_empty ? -1 : static_cast<int>(uart(data) & 0xff); }

}  // namespace arch
