// SPDX-License-Identifier: BSD-2-Clause
// I/O ports of IA-32. A program may use those of its description: each is mapped at its first use.
#pragma once

#include <stddef.h>

namespace ports {

inline void out8(unsigned short port, unsigned char value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "d"(port));
}
inline unsigned char in8(unsigned short port)
{
    unsigned char value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "d"(port));
    return value;
}

inline void out16(unsigned short port, unsigned short value)
{
    __asm__ volatile("outw %0, %1" : : "a"(value), "d"(port));
}
inline unsigned short in16(unsigned short port)
{
    unsigned short value;
    __asm__ volatile("inw %1, %0" : "=a"(value) : "d"(port));
    return value;
}

inline void out32(unsigned short port, unsigned value) { __asm__ volatile("outl %0, %1" : : "a"(value), "d"(port)); }
inline unsigned in32(unsigned short port)
{
    unsigned value;
    __asm__ volatile("inl %1, %0" : "=a"(value) : "d"(port));
    return value;
}

/// `count` times 16 bits between a port and memory.
inline void in16s(unsigned short port, void *to, size_t count)
{
    __asm__ volatile("rep insw" : "+D"(to), "+c"(count) : "d"(port) : "memory");
}
inline void out16s(unsigned short port, const void *from, size_t count)
{
    __asm__ volatile("rep outsw" : "+S"(from), "+c"(count) : "d"(port) : "memory");
}

} // namespace ports
