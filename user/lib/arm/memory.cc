// SPDX-License-Identifier: BSD-2-Clause
// The functions that the compiler calls by itself; the build keeps it from recognising the loops and calling the very
// function that it compiles. Words where both sides are aligned: unaligned accesses fault.
#include <stddef.h>

namespace {

using Word = unsigned;

bool aligned(const void *a, const void *b)
{
    return ((reinterpret_cast<size_t>(a) | reinterpret_cast<size_t>(b)) & 3) == 0;
}

} // namespace

extern "C" void *memcpy(void *to, const void *from, size_t n)
{
    auto *d = static_cast<unsigned char *>(to);
    auto *s = static_cast<const unsigned char *>(from);
    if (aligned(d, s))
        for (; n >= 4; n -= 4, d += 4, s += 4) *reinterpret_cast<Word *>(d) = *reinterpret_cast<const Word *>(s);
    while (n--) *d++ = *s++;
    return to;
}

extern "C" void *memmove(void *to, const void *from, size_t n)
{
    auto *d = static_cast<unsigned char *>(to);
    auto *s = static_cast<const unsigned char *>(from);
    if (d <= s) {
        for (size_t i = 0; i < n; i++) d[i] = s[i];
    } else {
        while (n--) d[n] = s[n];
    }
    return to;
}

extern "C" void *memset(void *to, int value, size_t n)
{
    auto *d = static_cast<unsigned char *>(to);
    if (aligned(d, nullptr)) {
        const Word pattern = static_cast<unsigned char>(value) * 0x01010101u;
        for (; n >= 4; n -= 4, d += 4) *reinterpret_cast<Word *>(d) = pattern;
    }
    while (n--) *d++ = static_cast<unsigned char>(value);
    return to;
}

extern "C" int memcmp(const void *a, const void *b, size_t n)
{
    const auto *x = static_cast<const unsigned char *>(a);
    const auto *y = static_cast<const unsigned char *>(b);
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i]) return x[i] - y[i];
    return 0;
}

extern "C" size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n]) n++;
    return n;
}
