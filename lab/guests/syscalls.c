/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of Linux by int $0x80, in loops: `syscalls CALLS FILE` calls getpid and gettimeofday, and writes and
 * reads the first 4 KB of FILE; then getpid once more, by the vdso, which takes sysenter where the processor has it.
 * Where the loops begin and end says what is measured (docs/plugin.md): nothing in it is for the laboratory. Needs no C
 * library. The status says which call went wrong.
 */
#include "int_calls.h"

enum { SYS_OPEN = 5, SYS_GETPID = 20 }; /* syscall_32.tbl, as the numbers below: pread64 and pwrite64 */
enum { AT_NULL = 0, AT_SYSINFO = 32 };   /* auxiliary vector, linux/auxvec.h */
enum { O_RDWR = 2, O_CREAT = 0100, BYTES = 4096 };

/* Each calls as often as ebp says, with the arguments that stand in the other registers. */
__asm__(".macro calls name, number, way:vararg\n"
        "        .globl  \\name, \\name\\()_done\n"
        "\\name: mov     $\\number, %eax\n"
        "        \\way\n"
        "        dec     %ebp\n"
        "        jnz     \\name\n"
        "\\name\\()_done:\n"
        "        ret\n"
        ".endm\n"
        "        calls   getpid, 20, int $0x80\n"
        "        calls   gettimeofday, 78, int $0x80\n"
        "        calls   read_4k, 180, int $0x80\n"
        "        calls   write_4k, 181, int $0x80\n"
        "        calls   fast_getpid, 20, call *entry\n"
        "by_int: int     $0x80\n"
        "        ret\n");
void getpid(void);
void gettimeofday(void);
void read_4k(void);
void write_4k(void);
void fast_getpid(void);
void by_int(void);

void (*entry)(void) = by_int;

static char buffer[BYTES] __attribute__((aligned(4096)));
static long time[2];

static void (*loop)(void);

/* Returns the last result. */
static long repeat(void (*calls)(void), long times, long first, void *second, long third)
{
    long result;
    loop = calls;
    __asm__ volatile("push %%ebp\n\tmov %%eax, %%ebp\n\tcall *%[loop]\n\tpop %%ebp"
                     : "=a"(result)
                     : "a"(times), "b"(first), "c"(second), "d"(third), "S"(0), "D"(0), [loop] "m"(loop)
                     : "memory", "cc");
    return result;
}

/* The initial stack: argument count, arguments, 0, environment, 0, auxiliary vector (System V ABI for i386). */
void start(long *stack)
{
    const char **arguments = (const char **)(stack + 1);
    const long *words = stack + 1 + stack[0] + 1;
    while (*words++);
    for (; words[0] != AT_NULL; words += 2)
        if (words[0] == AT_SYSINFO) entry = (void (*)(void))words[1];
    if (stack[0] != 3) end(1);
    const long times = number(arguments[1]);
    const long file = system_call(SYS_OPEN, (long)arguments[2], (void *)(O_RDWR | O_CREAT), 0600);
    if (file < 0 || times < 1) end(1);
    for (int i = 0; i < BYTES; i++) buffer[i] = (char)i;
    if (repeat(getpid, times, 0, 0, 0) <= 0) end(2);
    if (repeat(gettimeofday, times, (long)time, 0, 0) != 0 || time[0] == 0) end(3);
    if (repeat(write_4k, times, file, buffer, BYTES) != BYTES) end(4);
    for (int i = 0; i < BYTES; i++) buffer[i] = 0;
    if (repeat(read_4k, times, file, buffer, BYTES) != BYTES) end(5);
    for (int i = 0; i < BYTES; i++)
        if (buffer[i] != (char)i) end(6);
    if (repeat(fast_getpid, times, 0, 0, 0) != system_call(SYS_GETPID, 0, 0, 0)) end(7);
    end(0);
}
__asm__(".globl _start\n_start: mov %esp, %eax\n\tpush %eax\n\tcall start");
