/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes of Linux that send one byte to and fro through two pipes. `pipe ROUNDS WARMUP [int]`: the measured
 * rounds stand between the laboratory's markers (docs/plugin.md). System calls go through the vdso, which takes
 * sysenter where the processor has it; with `int`, by int $0x80. Needs no C library, so that next to nothing runs
 * beside the kernel.
 */

#include <cobnut/lab.h>

enum { SYS_EXIT = 1, SYS_FORK = 2, SYS_READ = 3, SYS_WRITE = 4, SYS_CLOSE = 6, SYS_PIPE = 42 }; /* syscall_32.tbl */
enum { AT_NULL = 0, AT_SYSINFO = 32 }; /* auxiliary vector, linux/auxvec.h */

void by_int(void);
__asm__("by_int: int $0x80; ret");
static void (*enter_kernel)(void) = by_int;

static long system_call(long number, long first, const void *second, long third)
{
    long result;
    __asm__ volatile("call *%[enter]"
                     : "=a"(result)
                     : "a"(number), "b"(first), "c"(second), "d"(third), [enter] "m"(enter_kernel)
                     : "memory", "cc");
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

static void send(int pipe)
{
    if (system_call(SYS_WRITE, pipe, "x", 1) != 1) end(2);
}

static void receive(int pipe)
{
    char byte;
    if (system_call(SYS_READ, pipe, &byte, 1) != 1) end(0); /* the other side has ended */
}

static void answer(int questions, int answers)
{
    for (;;) {
        receive(questions);
        send(answers);
    }
}

static void ask(int questions, int answers, long rounds, long warmup)
{
    /* what is modelled from here on only has its caches warm when the first iteration starts */
    cobnut_lab_mark(COBNUT_LAB_BEGIN, 0);
    for (long round = 0; round < warmup; round++) {
        send(questions);
        receive(answers);
    }
    for (long round = 0; round < rounds; round++) {
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        send(questions);
        receive(answers);
    }
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, 0);
}

/* The initial stack: argument count, arguments, 0, environment, 0, auxiliary vector (System V ABI for i386). */
void start(long *stack)
{
    const char **arguments = (const char **)(stack + 1);
    long *words = stack + 1 + stack[0] + 1;
    while (*words++);
    if (stack[0] < 4)
        for (; words[0] != AT_NULL; words += 2)
            if (words[0] == AT_SYSINFO) enter_kernel = (void (*)(void))words[1];
    int questions[2], answers[2];
    if (stack[0] < 3 || system_call(SYS_PIPE, (long)questions, 0, 0) || system_call(SYS_PIPE, (long)answers, 0, 0))
        end(1);
    if (system_call(SYS_FORK, 0, 0, 0) == 0) {
        system_call(SYS_CLOSE, questions[1], 0, 0); /* or it would wait for itself when the other has ended */
        answer(questions[0], answers[1]);
    }
    ask(questions[1], answers[0], number(arguments[1]), number(arguments[2]));
    end(0);
}
__asm__(".globl _start\n_start: mov %esp, %eax\n\tpush %eax\n\tcall start");
