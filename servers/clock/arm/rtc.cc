// SPDX-License-Identifier: BSD-2-Clause
// The clock of a Versatile baseboard, a PL031 (ARM DDI 0224, chapter 3): it counts seconds, and interrupts at one of
// them.
#include "../rtc.h"

#include <system/memory.h>

namespace rtc {
namespace {

enum Register { data = 0x00, match = 0x04, control = 0x0C, interrupts = 0x10, raw_status = 0x14, clear = 0x1C };

constinit volatile L4_Word_t *base = nullptr;

volatile L4_Word_t &at(Register r) { return base[r / sizeof *base]; }

} // namespace

const unsigned line = 10;

bool begin()
{
    const auto registers = cobnut::map_range(0);
    if (!registers) return false;
    base = reinterpret_cast<volatile L4_Word_t *>(registers.value.address);
    at(clear) = 1;
    at(control) = 1;
    at(match) = at(data) + 1;
    at(interrupts) = 1;
    return true;
}

bool read(unsigned &seconds)
{
    seconds = at(data);
    return true;
}

bool acknowledge()
{
    const bool begun = at(raw_status) & 1;
    at(clear) = 1;
    at(match) = at(data) + 1;
    return begun;
}

} // namespace rtc
