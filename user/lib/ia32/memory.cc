// SPDX-License-Identifier: BSD-2-Clause
// The functions that the compiler calls by itself. The string instructions keep it from recognising the loops and
// calling the very function that it compiles.
#include <stddef.h>

/// Words first: a byte takes as long to store as a word.
extern "C" void *memcpy(void *to, const void *from, size_t n)
{
    void *result = to;
    size_t count = n / 4;
    __asm__ volatile("rep movsl\n\tmov %3, %2\n\trep movsb"
                     : "+D"(to), "+S"(from), "+c"(count)
                     : "r"(n % 4)
                     : "memory");
    return result;
}

extern "C" void *memmove(void *to, const void *from, size_t n)
{
    if (static_cast<char *>(to) <= static_cast<const char *>(from)) {
        void *result = to;
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
        return result;
    }
    void *to_end = static_cast<char *>(to) + n - 1;
    const void *from_end = static_cast<const char *>(from) + n - 1;
    __asm__ volatile("std; rep movsb; cld" : "+D"(to_end), "+S"(from_end), "+c"(n) : : "memory");
    return to;
}

extern "C" void *memset(void *to, int value, size_t n)
{
    void *result = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
    return result;
}

extern "C" int memcmp(const void *a, const void *b, size_t n)
{
    const auto *x = static_cast<const volatile unsigned char *>(a);
    const auto *y = static_cast<const volatile unsigned char *>(b);
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i]) return x[i] - y[i];
    return 0;
}

extern "C" size_t strlen(const char *s)
{
    const volatile char *p = s;
    while (*p) p++;
    return static_cast<size_t>(p - s);
}
