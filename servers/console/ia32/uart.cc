// SPDX-License-Identifier: BSD-2-Clause
// The first 16550 of a PC.
#include "../uart.h"

#include <system/ports.h>

namespace uart {
namespace {

constexpr unsigned short base = 0x3F8, data = base, interrupts = base + 1, modem = base + 4, status = base + 5;
constexpr unsigned char receive = 1, out2 = 8, arrived = 1, ready = 0x20; // out2 connects it to its line

} // namespace

const unsigned line = 4;

bool begin()
{
    ports::out8(modem, ports::in8(modem) | out2);
    ports::out8(interrupts, receive);
    return true;
}

void put(char c)
{
    while (!(ports::in8(status) & ready)) {}
    ports::out8(data, static_cast<unsigned char>(c));
}

int get() { return ports::in8(status) & arrived ? ports::in8(data) : -1; }

} // namespace uart
