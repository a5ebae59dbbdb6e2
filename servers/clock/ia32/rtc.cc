// SPDX-License-Identifier: BSD-2-Clause
// The clock of a PC, an MC146818: the date in registers.
#include "../rtc.h"

#include <system/calendar.h>
#include <system/ports.h>

namespace rtc {
namespace {

constexpr unsigned short index_port = 0x70, data_port = 0x71;
enum Register : unsigned char {
    seconds,
    minutes = 2,
    hours = 4,
    day = 7,
    month,
    year,
    status_a,
    status_b,
    status_c,
    century = 0x32
};
constexpr unsigned char updating = 0x80;                                    // of status A
constexpr unsigned char update_interrupt = 0x10, binary = 4, of_24_hours = 2; // of status B
constexpr unsigned char other_interrupts = 0x60;                            // alarm, periodic
constexpr unsigned char update_ended = 0x10;                                // of status C
constexpr unsigned char afternoon = 0x80;
constexpr unsigned attempts = 100'000;

unsigned char get(Register which)
{
    ports::out8(index_port, which);
    return ports::in8(data_port);
}

void set(Register which, unsigned char value)
{
    ports::out8(index_port, which);
    ports::out8(data_port, value);
}

/// All registers of the date as they are, between two updates.
struct Raw {
    unsigned char values[7];
    bool operator==(const Raw &) const = default;
};

Raw get_raw()
{
    for (unsigned i = 0; i < attempts && get(status_a) & updating; i++) {}
    return {{get(seconds), get(minutes), get(hours), get(day), get(month), get(year), get(century)}};
}

unsigned number(unsigned char value, unsigned char format)
{
    return format & binary ? value : (value >> 4) * 10u + (value & 15u);
}

} // namespace

const unsigned line = 8;

bool begin()
{
    set(status_b, static_cast<unsigned char>((get(status_b) & ~other_interrupts) | update_interrupt));
    get(status_c);
    return true;
}

bool read(unsigned &since_1970)
{
    // twice the same: no update came between two of the registers
    Raw raw = get_raw(), again = get_raw();
    for (unsigned i = 0; i < attempts && raw != again; i++) raw = again, again = get_raw();
    const unsigned char format = get(status_b), hour = raw.values[2];
    cobnut::Date date = {number(raw.values[5], format), number(raw.values[4], format),
                         number(raw.values[3], format), number(hour & ~afternoon, format),
                         number(raw.values[1], format), number(raw.values[0], format)};
    const unsigned hundreds = number(raw.values[6], format);
    date.year += hundreds >= 19 && hundreds <= 21 ? hundreds * 100 : 2000;
    if (!(format & of_24_hours)) date.hour = date.hour % 12 + (hour & afternoon ? 12 : 0);
    if (!cobnut::is_valid(date)) return false;
    since_1970 = cobnut::seconds_of(date);
    return true;
}

bool acknowledge() { return get(status_c) & update_ended; }

} // namespace rtc
