/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that hand a token round through pipes, as those of lmbench's lat_ctx do: whoever has it reads memory of its
 * own, so many KB, and hands it on. An iteration between the laboratory's marks (docs/plugin.md) is one way round; one
 * process alone writes to itself, which is what a turn costs without a switch.
 */
#include "arm_calls.h"

enum { MOST = 64, KB = 1024, MOST_KB = 64 };

static unsigned memory[MOST_KB * KB / sizeof(unsigned)];
static int pipes[MOST][2]; /* to each process */
static long processes, words;

static void turn(long process)
{
    long next = process + 1 == processes ? 0 : process + 1;
    unsigned sum = 0;
    char token;
    if (call(SYS_READ, pipes[process][0], (long)&token, 1, 0, 0) != 1) end(2);
    for (long word = 0; word < words; word++) sum += ((volatile unsigned *)memory)[word];
    wanted(sum == (unsigned)(process * words), "memory of its own");
    if (call(SYS_WRITE, pipes[next][1], (long)&token, 1, 0, 0) != 1) end(3);
}

static void own_memory(long process)
{
    for (long word = 0; word < words; word++) memory[word] = (unsigned)process;
}

static long member(long process, long turns)
{
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child != 0) return child;
    own_memory(process);
    for (long one = 0; one < turns; one++) turn(process);
    end(0);
    return 0;
}

static void go_round(long rounds, long warmup)
{
    long children[MOST];
    for (long one = 0; one < processes; one++) call(SYS_PIPE, (long)pipes[one], 0, 0, 0, 0);
    for (long one = 1; one < processes; one++) children[one] = member(one, warmup + rounds + 1);
    own_memory(0);
    call(SYS_WRITE, pipes[0][1], (long)"x", 1, 0, 0);
    mark(MARK_BEGIN);
    for (long round = 0; round < warmup + rounds; round++) {
        if (round >= warmup) mark(MARK_ITERATION);
        turn(0);
    }
    mark(MARK_ITERATION);
    mark(MARK_END);
    turn(0); /* so that nobody ends while it is measured */
    for (long one = 1; one < processes; one++) wanted(status_of(children[one]) == 0, "a process of the ring");
    for (long one = 0; one < processes; one++) {
        call(SYS_CLOSE, pipes[one][0], 0, 0, 0, 0);
        call(SYS_CLOSE, pipes[one][1], 0, 0, 0, 0);
    }
}

int ring(const char *kind, long rounds, long warmup)
{
    for (const char *name = "ring-"; *name; name++, kind++)
        if (*kind != *name) return 0;
    processes = number(kind);
    while (*kind && *kind != '-') kind++;
    long size = *kind ? number(kind + 1) : MOST_KB + 1;
    if (processes < 1 || processes > MOST || size > MOST_KB) return 0;
    words = size * KB / (long)sizeof *memory;
    go_round(rounds, warmup);
    return 1;
}
