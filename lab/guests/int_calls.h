/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linux's system calls on i386 by int $0x80, and what little of a C library the programs here need that have none. */
#ifndef INT_CALLS_H
#define INT_CALLS_H

enum { SYS_EXIT = 1 }; /* syscall_32.tbl */

static long system_call(long number, long first, const void *second, long third)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first), "c"(second), "d"(third) : "memory");
    return result;
}

static void end(int status)
{
    for (;;) system_call(SYS_EXIT, status, 0, 0);
}

static long number(const char *text)
{
    long value = 0;
    for (; *text >= '0' && *text <= '9'; text++) value = 10 * value + *text - '0';
    return value;
}

#endif
