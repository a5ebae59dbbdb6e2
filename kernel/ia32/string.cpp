// SPDX-License-Identifier: BSD-2-Clause
#include "core/string.hpp"

extern "C" {

void* memset(void* to, int value, std::size_t bytes) {
    void* d = to;
    std::size_t words = bytes / 4, rest = bytes % 4;
    Word pattern = static_cast<Word>(value & 0xff) * 0x01010101;
    asm volatile("rep stosl" : "+D"(d), "+c"(words) : "a"(pattern) : "memory");
    asm volatile("rep stosb" : "+D"(d), "+c"(rest) : "a"(pattern) : "memory");
    return to;
}

void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) {
    void* d = to;
    std::size_t words = bytes / 4, rest = bytes % 4;
    asm volatile("rep movsl" : "+D"(d), "+S"(from), "+c"(words) : : "memory");
    asm volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(rest) : : "memory");
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
