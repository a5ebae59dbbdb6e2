// SPDX-License-Identifier: BSD-2-Clause
// The first 16550 of a PC.
#include "../uart.h"

namespace uart {
namespace {

constexpr unsigned short base = 0x3F8, data = base, interrupts = base + 1, modem = base + 4, status = base + 5;
constexpr unsigned char receive = 1, out2 = 8, arrived = 1, ready = 0x20; // out2 connects it to its line

void out(unsigned short port, unsigned char value) { __asm__ volatile("outb %0, %1" : : "a"(value), "d"(port)); }
unsigned char in(unsigned short port)
{
    unsigned char value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "d"(port));
    return value;
}

} // namespace

const unsigned line = 4;

bool begin()
{
    out(modem, in(modem) | out2);
    out(interrupts, receive);
    return true;
}

void put(char c)
{
    while (!(in(status) & ready)) {}
    out(data, static_cast<unsigned char>(c));
}

int get() { return in(status) & arrived ? in(data) : -1; }

} // namespace uart
