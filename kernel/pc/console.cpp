// SPDX-License-Identifier: BSD-2-Clause
// The debug console: the first serial port (16550), polled; and the end of a run in an emulator.
#include "core/arch.hpp"
#include "core/print.hpp"
#include "ia32/board.hpp"
#include "ia32/cpu.hpp"

namespace {

constexpr Word uart = 0x3f8;
enum UartRegister : Word { data = 0, interrupt_enable = 1, fifo = 2, line_control = 3, modem = 4, line_status = 5 };
enum LineStatus : Word { received = 1, can_send = 0x20, all_sent = 0x40 };

constexpr Word qemu_exit_port = 0xf4;
constexpr Word bochs_exit_port = 0x8900;

}  // namespace

namespace board {

void initialise_console() {
    cpu::out8(uart + interrupt_enable, 0);
    cpu::out8(uart + line_control, 0x80);
    cpu::out8(uart + data, 1);              // 115,200 bit/s
    cpu::out8(uart + interrupt_enable, 0);
    cpu::out8(uart + line_control, 3);      // 8N1
    cpu::out8(uart + fifo, 0x07);
    cpu::out8(uart + modem, 3);
}

bool console_port(Word port, bool write) { return port == uart + data || (!write && port == uart + line_status); }

}  // namespace board

namespace arch {

// Without a serial port the register reads as 0xff: ready.
bool console_ready() { return cpu::in8(uart + line_status) & can_send; }

void console_put(char c) {
    while (!console_ready()) {}
    cpu::out8(uart + data, static_cast<unsigned char>(c));
}

int console_get() {
    Word status = cpu::in8(uart + line_status);
    return status != 0xff && status & received ? static_cast<int>(cpu::in8(uart + data)) : -1;
}

void stop(const char* why) {
    print("cobnut: ", why, "\n");
    power_off();
}

void power_off() {
    while (!(cpu::in8(uart + line_status) & all_sent)) {}
    cpu::out8(qemu_exit_port, 1);
    for (const char* s = "Shutdown"; *s; ++s) cpu::out8(bochs_exit_port, static_cast<unsigned char>(*s));
    for (;;) asm volatile("cli; hlt");
}

}  // namespace arch
