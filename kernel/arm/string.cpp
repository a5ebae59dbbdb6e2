// SPDX-License-Identifier: BSD-2-Clause
// Whole words where both sides are aligned: unaligned accesses fault.
#include "core/string.hpp"

namespace {

constexpr std::size_t line = 32;

bool aligned(const void* a, const void* b = nullptr) {
    return ((reinterpret_cast<Word>(a) | reinterpret_cast<Word>(b)) & 3) == 0;
}

}  // namespace

extern "C" {

void* memset(void* to, int value, std::size_t bytes) {
    auto* d = static_cast<unsigned char*>(to);
    if (aligned(d)) {
        Word pattern = static_cast<Word>(value & 0xff) * 0x01010101;
        // Whole pages, for the most part.
        if (std::size_t lines = bytes / line) {
            bytes %= line;
            asm volatile("mov r4, %2\n\tmov r5, %2\n\tmov r6, %2\n\tmov r7, %2\n"
                         "1:\tstmia %0!, {r4-r7}\n\tstmia %0!, {r4-r7}\n\tsubs %1, %1, #1\n\tbne 1b"
                : "+r"(d), "+r"(lines)
                : "r"(pattern)
                : "r4", "r5", "r6", "r7", "cc", "memory");
        }
        for (; bytes >= 4; bytes -= 4, d += 4) *reinterpret_cast<Word*>(d) = pattern;
    }
    for (; bytes; --bytes) *d++ = static_cast<unsigned char>(value);
    return to;
}

void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) {
    auto* d = static_cast<unsigned char*>(to);
    auto* s = static_cast<const unsigned char*>(from);
    if (bytes >= 16) {
        for (; !aligned(d); --bytes) *d++ = *s++;
        auto* out = reinterpret_cast<Word*>(d);
        if (aligned(s)) {
            auto* in = reinterpret_cast<const Word*>(s);
            for (; bytes >= 4; bytes -= 4) *out++ = *in++;
            s = reinterpret_cast<const unsigned char*>(in);
        } else {
            // Each word has its lower bytes out of one word of the source, and the others out of the next.
            Word skew = reinterpret_cast<Word>(s) & 3, low = skew * 8, high = 32 - low;
            auto* in = reinterpret_cast<const Word*>(s - skew);
            Word carried = *in++ >> low;
            for (; bytes >= 8; bytes -= 4) {
                Word next = *in++;
                *out++ = carried | next << high;
                carried = next >> low;
            }
            s = reinterpret_cast<const unsigned char*>(in - 1) + skew;
        }
        d = reinterpret_cast<unsigned char*>(out);
    }
    for (; bytes; --bytes) *d++ = *s++;
    return to;
}

void* memmove(void* to, const void* from, std::size_t bytes) {
    auto* d = static_cast<unsigned char*>(to);
    auto* s = static_cast<const unsigned char*>(from);
    if (d <= s || d >= s + bytes) {
        while (bytes--) *d++ = *s++;
    } else {
        while (bytes--) d[bytes] = s[bytes];
    }
    return to;
}

int memcmp(const void* a, const void* b, std::size_t bytes) {
    auto* x = static_cast<const unsigned char*>(a);
    auto* y = static_cast<const unsigned char*>(b);
    for (; bytes; --bytes, ++x, ++y)
        if (*x != *y) return *x - *y;
    return 0;
}

std::size_t strlen(const char* s) {
    std::size_t n = 0;
    while (s[n]) ++n;
    return n;
}

}  // extern "C"
