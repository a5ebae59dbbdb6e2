// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

namespace {

int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return 36;
}

} // namespace

extern "C" {

/// The standard's, but for what does not fit into a long, which wraps around.
long strtol(const char *text, char **end, int base)
{
    const char *p = text;
    while (*p == ' ' || (*p >= '\t' && *p <= '\r')) p++;
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    if ((!base || base == 16) && p[0] == '0' && (p[1] | 0x20) == 'x' && digit(p[2]) < 16) {
        base = 16;
        p += 2;
    }
    if (!base) base = *p == '0' ? 8 : 10;
    unsigned long value = 0;
    const char *const first = p;
    for (; digit(*p) < base; p++)
        value = value * static_cast<unsigned long>(base) + static_cast<unsigned long>(digit(*p));
    if (end) *end = const_cast<char *>(p == first ? text : p);
    return static_cast<long>(negative ? 0 - value : value);
}
int atoi(const char *text) { return static_cast<int>(strtol(text, nullptr, 10)); }
int abs(int value) { return value < 0 ? -value : value; }

} // extern "C"
