// SPDX-License-Identifier: BSD-2-Clause
// The controller of a PC, an 8042: bytes of both devices come in through one port, and its status says from which.
#include "../controller.h"

#include <system/ports.h>

namespace ps2 {
namespace {

constexpr unsigned short data = 0x60, status_port = 0x64, command_port = 0x64;
constexpr unsigned char output_full = 1, input_full = 2, from_mouse = 0x20; // of the status
constexpr unsigned char read_configuration = 0x20, write_configuration = 0x60, mouse_off = 0xA7, mouse_on = 0xA8,
                        keyboard_off = 0xAD, keyboard_on = 0xAE, to_mouse = 0xD4;
constexpr unsigned char keyboard_interrupt = 1, mouse_interrupt = 2, keyboard_is_off = 0x10, mouse_is_off = 0x20,
                        translated = 0x40; // of the configuration
constexpr unsigned char defaults = 0xF6, report = 0xF4, enable_scanning = 0xF4;
constexpr unsigned patience = 100'000; // looks at the status

bool wait_until(unsigned char bit, bool set)
{
    for (unsigned i = 0; i < patience; i++)
        if (bool(ports::in8(status_port) & bit) == set) return true;
    return false;
}

void command(unsigned char value)
{
    wait_until(input_full, false);
    ports::out8(command_port, value);
}

void write(unsigned char value)
{
    wait_until(input_full, false);
    ports::out8(data, value);
}

unsigned char read() { return wait_until(output_full, true) ? ports::in8(data) : 0; }

void drain()
{
    while (get().there) {}
}

/// Each byte to a device is acknowledged by one.
void tell_keyboard(unsigned char value)
{
    write(value);
    read();
}

void tell_mouse(unsigned char value)
{
    command(to_mouse);
    write(value);
    read();
}

} // namespace

const unsigned lines[] = {1, 12}; // keyboard, mouse
const unsigned line_count = 2;

bool begin()
{
    command(keyboard_off);
    command(mouse_off);
    drain();
    command(read_configuration);
    unsigned char configuration = read();
    configuration &= static_cast<unsigned char>(~(keyboard_interrupt | mouse_interrupt | keyboard_is_off));
    configuration &= static_cast<unsigned char>(~mouse_is_off);
    command(write_configuration);
    write(configuration | translated);
    command(keyboard_on);
    command(mouse_on);
    tell_keyboard(enable_scanning);
    tell_mouse(defaults);
    tell_mouse(report);
    drain();
    command(write_configuration);
    write(configuration | translated | keyboard_interrupt | mouse_interrupt);
    return true;
}

Byte get()
{
    const unsigned char status = ports::in8(status_port);
    if (!(status & output_full)) return {false, false, 0};
    return {true, bool(status & from_mouse), ports::in8(data)};
}

} // namespace ps2
