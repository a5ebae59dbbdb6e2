// SPDX-License-Identifier: BSD-2-Clause
// Seconds since 1970 as a date of the Gregorian calendar, and back; without leap seconds, from 1970 to 2106.
#pragma once

namespace cobnut {

struct Date {
    unsigned year, month, day, hour, minute, second; ///< month and day from 1
};

constexpr bool is_leap(unsigned year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

constexpr unsigned days_of(unsigned year, unsigned month)
{
    constexpr unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

constexpr unsigned first_year = 1970, last_year = 2105, seconds_a_day = 86400;

/// False if there is no such date.
constexpr bool is_valid(const Date &d)
{
    return d.year >= first_year && d.year <= last_year && d.month >= 1 && d.month <= 12 && d.day >= 1 &&
           d.day <= days_of(d.year, d.month) && d.hour < 24 && d.minute < 60 && d.second < 60;
}

constexpr unsigned seconds_of(const Date &d)
{
    unsigned days = d.day - 1;
    for (unsigned year = first_year; year < d.year; year++) days += 365 + is_leap(year);
    for (unsigned month = 1; month < d.month; month++) days += days_of(d.year, month);
    return ((days * 24 + d.hour) * 60 + d.minute) * 60 + d.second;
}

constexpr Date date_of(unsigned seconds)
{
    Date d = {first_year, 1, 1, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60};
    unsigned days = seconds / seconds_a_day;
    for (; days >= 365u + is_leap(d.year); d.year++) days -= 365 + is_leap(d.year);
    for (; days >= days_of(d.year, d.month); d.month++) days -= days_of(d.year, d.month);
    d.day += days;
    return d;
}

static_assert(seconds_of({2000, 2, 29, 12, 0, 0}) == 951825600 && date_of(951825600).month == 2);
static_assert(date_of(seconds_of({2100, 3, 1, 0, 0, 1})).day == 1 && date_of(951825600 + seconds_a_day).day == 1);

} // namespace cobnut
