/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps that grow by brk: through 32 MB, below which fast address-space switching relocates addresses, and over all the
 * places that processes have been relocated to, the process's own among them (docs/linux-arm.md). Memory there would be
 * known by two names, so what is written must not be found in the process's own data. Every value is checked.
 */
#include "arm_calls.h"

enum { COMPATIBLE_LAYOUT = 0x0200000, SET_MM = 35, START_BRK = 6, BRK = 7 }; /* linux/personality.h, prctl.h */
enum { MB = 1 << 20, GROWTH = 40 * MB, STEP = 65536 + 4, LOWER = 32 * MB };
enum { PLACES = 0x42000000 }; /* more than half of them, up to 2 GB */

static unsigned own[2048];

static int is_whole(void)
{
    for (unsigned word = 0; word < 2048; word++)
        if (own[word] != word) return 0;
    return 1;
}

static unsigned long grow_to(unsigned long end) { return (unsigned long)call(SYS_BRK, (long)end, 0, 0, 0, 0); }

/* The heap has nothing from `begin` on. It grows, is used at each step from `first` on, shrinks, and grows anew. */
static void use(unsigned long begin, unsigned long end, unsigned long first, unsigned long step)
{
    int right = 1, empty = 1;
    wanted(grow_to(end) == end, "a heap that grows");
    for (unsigned long at = first; at < end; at += step) *(volatile unsigned long *)at = ~at;
    for (unsigned long at = first; at < end; at += step) right &= *(volatile unsigned long *)at == ~at;
    wanted(right, "what the heap holds");
    wanted(grow_to(begin) == begin && grow_to(end) == end, "a heap that shrinks and grows");
    for (unsigned long at = first; at < end; at += step) empty &= *(volatile unsigned long *)at == 0;
    wanted(empty, "a heap that grows anew");
    wanted(is_whole(), "what is not of the heap");
    grow_to(begin);
}

/* Nothing of a heap of 1 GB is there before it is used, so it may be larger than memory. */
static void promise_more_than_there_is(void)
{
    mount_proc();
    long file = call(SYS_OPEN, (long)"/proc/sys/vm/overcommit_memory", OPEN_WRITE, 0, 0, 0);
    call(SYS_WRITE, file, (long)"1", 1, 0, 0);
    call(SYS_CLOSE, file, 0, 0, 0, 0);
}

/* The program that is executed with the compatible layout, where the stack does not end the heap. */
void grown(void)
{
    for (unsigned word = 0; word < 2048; word++) own[word] = word;
    unsigned long begin = (grow_to(0) + PAGE - 1) & -PAGE;
    use(begin, begin + GROWTH, begin, STEP);
    promise_more_than_there_is();
    call(SYS_PRCTL, SET_MM, BRK, PLACES, 0, 0);
    call(SYS_PRCTL, SET_MM, START_BRK, PLACES, 0, 0);
    use(PLACES, 0x80000000, PLACES + (unsigned long)own % LOWER, LOWER);
    end(0);
}

void heap(void)
{
    static char command[] = "grown";
    char *words[] = {program, command, 0}, *environment[] = {0};
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        call(SYS_PERSONALITY, COMPATIBLE_LAYOUT, 0, 0, 0, 0);
        call(SYS_EXECVE, (long)program, (long)words, (long)environment, 0, 0);
        end(1);
    }
    wanted(status_of(child) == 0, "a program with a large heap");
    say("guest: heap done\n");
}
