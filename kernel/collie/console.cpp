// SPDX-License-Identifier: BSD-2-Clause
// The debug console: serial port 1, polled.
#include "arm/board.hpp"
#include "collie/devices.hpp"
#include "core/arch.hpp"

namespace {

enum UartRegister : Word {
    control0 = 0x00,
    divisor_high = 0x04,
    divisor_low = 0x08,
    control3 = 0x0c,
    data = 0x14,
    status1 = 0x20
};
enum UartStatus : Word { transmitting = 1u << 0, received = 1u << 1, can_send = 1u << 2 };

volatile Word& uart(Word offset) { return device(UART1, offset); }

}  // namespace

namespace board {

void initialise_console() {
    uart(control3) = 0;
    uart(control0) = 0x08;                      // 8N1
    uart(divisor_high) = 0;
    uart(divisor_low) = 1;                      // 115,200 bit/s
    uart(control3) = 3;                         // receive and transmit
}

void finish_output() {
    while (uart(status1) & transmitting) {}
}

}  // namespace board

namespace arch {

bool console_ready() { return uart(status1) & can_send; }

void console_put(char c) {
    while (!console_ready()) {}
    uart(data) = static_cast<unsigned char>(c);
}

int console_get() { return uart(status1) & received ? static_cast<int>(uart(data) & 0xff) : -1; }

}  // namespace arch
