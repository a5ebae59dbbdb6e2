/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte that is sent to and fro, between the laboratory's marks (docs/plugin.md): what lmbench calls a hot potato. Two
 * processes have pipes or FIFOs between them; or two threads of one process have pipes, which is the floor: the same
 * work without a switch of address spaces.
 */
#include "arm_calls.h"

enum { MARK_BEGIN = 0xC0B00001, MARK_ITERATION = 0xC0B00002, MARK_END = 0xC0B00003 };
enum { CLONE_VM = 0x100, CLONE_FILES = 0x400, SIGNAL_CHILD = 17, FIFO = 0010600, STACK = 4096 };

static int questions[2], answers[2]; /* from, to */

static void mark(unsigned long kind)
{
    register unsigned long r0 __asm__("r0") = kind, r1 __asm__("r1") = 0;
    __asm__ volatile("mov r12, r12" : : "r"(r0), "r"(r1) : "memory");
}

static int same(const char *one, const char *other)
{
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

static void send(int pipe)
{
    if (call(SYS_WRITE, pipe, (long)"x", 1, 0, 0) != 1) end(2);
}

static void receive(int pipe)
{
    char byte;
    if (call(SYS_READ, pipe, (long)&byte, 1, 0, 0) != 1) end(0); /* the other side has ended */
}

static void answer(void)
{
    for (;;) {
        receive(questions[0]);
        send(answers[1]);
    }
}

static void ask(long rounds, long warmup)
{
    mark(MARK_BEGIN);
    for (long round = 0; round < warmup + rounds; round++) {
        if (round >= warmup) mark(MARK_ITERATION);
        send(questions[1]);
        receive(answers[0]);
    }
    mark(MARK_ITERATION);
    mark(MARK_END);
}

static void close_one(int pipe) { call(SYS_CLOSE, pipe, 0, 0, 0, 0); }

static long process_with_pipes(void)
{
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        close_one(questions[1]); /* or it would wait for itself when the other has ended */
        answer();
    }
    return child;
}

/* Makes a thread that does `run`, which does not return, on the stack that ends there. Returns its number. */
long spawn(long flags, void *end_of_stack, void (*run)(void));
__asm__("spawn: mov r12, r2\n"
        "\tstr r7, [sp, #-8]!\n"
        "\tmov r2, #0\n"
        "\tmov r3, #0\n"
        "\tmov r7, #120\n" /* clone */
        "\tsvc 0\n"
        "\tcmp r0, #0\n"
        "\tmoveq pc, r12\n"
        "\tldr r7, [sp], #8\n"
        "\tmov pc, lr");

static long thread(void)
{
    static char stack[STACK] __attribute__((aligned(8)));
    return spawn(CLONE_VM | CLONE_FILES | SIGNAL_CHILD, stack + STACK, answer);
}

/* Opening a FIFO waits for the other side, so the partner opens both in the same order. */
static long process_with_fifos(void)
{
    call(SYS_MKNOD, (long)"/questions", FIFO, 0, 0, 0);
    call(SYS_MKNOD, (long)"/answers", FIFO, 0, 0, 0);
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    int there = child == 0;
    questions[!there] = (int)call(SYS_OPEN, (long)"/questions", there ? OPEN_READ : OPEN_WRITE, 0, 0, 0);
    answers[there] = (int)call(SYS_OPEN, (long)"/answers", there ? OPEN_WRITE : OPEN_READ, 0, 0, 0);
    if (there) answer();
    return child;
}

void potato(const char *kind, long rounds, long warmup)
{
    int fifo = same(kind, "fifo");
    if (!fifo) call(SYS_PIPE, (long)questions, 0, 0, 0, 0);
    if (!fifo) call(SYS_PIPE, (long)answers, 0, 0, 0, 0);
    long child = fifo ? process_with_fifos() : same(kind, "threads") ? thread() : process_with_pipes();
    ask(rounds, warmup);
    close_one(questions[1]);
    call(SYS_WAIT4, child, 0, 0, 0, 0);
    close_one(answers[0]);
    if (!fifo) close_one(questions[0]);
    if (!fifo) close_one(answers[1]);
    say("guest: ");
    say(kind);
    say(" done\n");
}
