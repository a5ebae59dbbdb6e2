/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linux's system calls on ARM (EABI), and what little of a C library the programs of lab/guests need there. */
#ifndef ARM_CALLS_H
#define ARM_CALLS_H

#include <stddef.h>

/* arch/arm/tools/syscall.tbl */
enum {
    SYS_EXIT = 1,
    SYS_FORK = 2,
    SYS_READ = 3,
    SYS_WRITE = 4,
    SYS_OPEN = 5,
    SYS_CLOSE = 6,
    SYS_EXECVE = 11,
    SYS_MKNOD = 14,
    SYS_LSEEK = 19,
    SYS_GETPID = 20,
    SYS_MOUNT = 21,
    SYS_MKDIR = 39,
    SYS_PIPE = 42,
    SYS_BRK = 45,
    SYS_FCNTL = 55,
    SYS_REBOOT = 88,
    SYS_MUNMAP = 91,
    SYS_FTRUNCATE = 93,
    SYS_WAIT4 = 114,
    SYS_MPROTECT = 125,
    SYS_PERSONALITY = 136,
    SYS_MREMAP = 163,
    SYS_PRCTL = 172,
    SYS_PWRITE64 = 181,
    SYS_MMAP2 = 192,
    SYS_MADVISE = 220,
    SYS_SOCKETPAIR = 288
};
enum { PAGE = 4096 };
enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20 };
enum { MARK_BEGIN = 0xC0B00001, MARK_ITERATION = 0xC0B00002, MARK_END = 0xC0B00003 }; /* docs/plugin.md */
enum { OPEN_READ = 0, OPEN_WRITE = 1, OPEN_BOTH = 2, OPEN_CREATE = 0100, OPEN_EMPTY = 01000 };

static inline long call6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r7 __asm__("r7") = number, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d, r4 __asm__("r4") = e, r5 __asm__("r5") = f;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
    return r0;
}

static inline long call(long number, long a, long b, long c, long d, long e) { return call6(number, a, b, c, d, e, 0); }

static inline size_t length(const char *text)
{
    size_t bytes = 0;
    while (text[bytes]) bytes++;
    return bytes;
}

static inline int same(const char *one, const char *other)
{
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

static inline long number(const char *text)
{
    long value = 0;
    for (; *text >= '0' && *text <= '9'; text++) value = 10 * value + *text - '0';
    return value;
}

static inline void mark(unsigned long kind)
{
    register unsigned long r0 __asm__("r0") = kind, r1 __asm__("r1") = 0;
    __asm__ volatile("mov r12, r12" : : "r"(r0), "r"(r1) : "memory");
}

static inline void say(const char *text) { call(SYS_WRITE, 1, (long)text, length(text), 0, 0); }

static inline void end(int status)
{
    for (;;) call(SYS_EXIT, status, 0, 0, 0, 0);
}

static inline void wanted(int holds, const char *what)
{
    if (holds) return;
    say("guest: FAIL ");
    say(what);
    say("\n");
}

/* Waits for the child's end; -1 if there is none. */
static inline int status_of(long child)
{
    int status = -1;
    if (call(SYS_WAIT4, child, (long)&status, 0, 0, 0) != child) return -1;
    return status;
}

extern char *program; /* the file of this one, to execute it again; init_arm.c */
void mount_proc(void);

/* Commands of init that have a file of their own. */
void crowd(long processes, long rounds, int sharing); /* crowd_arm.c */
void leaf(long status);
void heap(void); /* heap_arm.c */
void regions(void); /* regions_arm.c */
void shell(void); /* streams_arm.c */
void grown(void);
/* These return whether there is something of that kind. */
int potato(const char *kind, long rounds, long warmup); /* potato_arm.c */
int stream_or_process(const char *kind, long rounds, long warmup); /* streams_arm.c */
int ring(const char *kind, long rounds, long warmup); /* ring_arm.c */

#endif
