/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes of Linux that send a byte to and fro through two pipes, of which the first goes through a working set
 * before each round. `rounds BEFORE TIMES {nops|jumps|reads} SIZE ...` makes BEFORE rounds without a working set, in
 * which the system gets used to the two, and TIMES rounds with each one, bytes of nops or pages. Where the loops begin
 * and end says what is measured (docs/plugin.md): nothing in it is for the laboratory. System calls are made by
 * int $0x80. Needs no C library. The status says what went wrong.
 */
#include "int_calls.h"

enum { SYS_FORK = 2, SYS_READ = 3, SYS_WRITE = 4, SYS_CLOSE = 6, SYS_PIPE = 42 }; /* syscall_32.tbl */
enum { MOST_BYTES = 16384, MOST_PAGES = 256, JUMP = 4155, DISTANCE = 4160, MOST_LOOPS = 24 }; /* and one before them */

/* The working sets as U02 has them (section 4.1): nops, jumps by 4155 bytes, and reads every 4160 bytes. */
__asm__("nops:   .fill   16384, 1, 0x90\n"
        "nops_end:\n"
        "        ret\n"
        "jumps:  .rept   256\n"
        "        .byte   0xe9\n" /* jmp with a distance of 32 bits, which counts from behind it */
        "        .long   4150\n"
        "        .skip   4150\n"
        "        .endr\n"
        "jumps_end:\n"
        "        ret\n"
        "reads:  mov     read_pages, %ecx\n"
        "        mov     $data, %eax\n"
        "1:      mov     (%eax), %edx\n"
        "        add     $4160, %eax\n"
        "        dec     %ecx\n"
        "        jnz     1b\n"
        "        ret\n");
extern const char nops_end[], jumps_end[], reads[];

/* What the assembly uses: it is to be found there, so it is not static. */
char data[MOST_PAGES * DISTANCE];
long read_pages, left;
const char *work;
int to_other, from_other;
char byte;

/* Of each working set one loop, so that each has a place of its own: turn_0, turn_1 ... */
__asm__(".macro  turn, number\n"
        "        .globl  turn_\\number, turn_\\number\\()_done\n"
        "turn_\\number:\n"
        "        call    *work\n"
        "        mov     $4, %eax\n"
        "        mov     to_other, %ebx\n"
        "        mov     $byte, %ecx\n"
        "        mov     $1, %edx\n"
        "        int     $0x80\n"
        "        mov     $3, %eax\n"
        "        mov     from_other, %ebx\n"
        "        mov     $byte, %ecx\n"
        "        mov     $1, %edx\n"
        "        int     $0x80\n"
        "        decl    left\n"
        "        jnz     turn_\\number\n"
        "turn_\\number\\()_done:\n"
        "        ret\n"
        "        .pushsection .rodata\n"
        "        .long   turn_\\number\n"
        "        .popsection\n"
        ".endm\n"
        "        .pushsection .rodata\n"
        "        .balign 4\n"
        "turns:\n"
        "        .popsection\n"
        "        .irp    number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24\n"
        "        turn    \\number\n"
        "        .endr\n");
extern void (*const turns[MOST_LOOPS + 1])(void);

/* What the loop calls for a working set of this kind and size. */
static const char *work_of(char kind, long size)
{
    switch (kind) {
    case 'n':
        if (size > MOST_BYTES) end(2);
        return nops_end - size;
    case 'j':
        if (size > MOST_PAGES) end(2);
        return jumps_end - JUMP * size;
    case 'r':
        if (size < 1 || size > MOST_PAGES) end(2);
        read_pages = size;
        return reads;
    }
    end(2);
    return 0;
}

static void answer(int questions, int answers)
{
    char word;
    while (system_call(SYS_READ, questions, &word, 1) == 1)
        if (system_call(SYS_WRITE, answers, &word, 1) != 1) end(3);
    end(0); /* the other one has ended */
}

/* The loop leaves what it likes in the registers that the compiler knows of here. */
static void repeat(void (*loop)(void), long times)
{
    left = times;
    __asm__ volatile("call *%[loop]" : [loop] "+S"(loop) : : "eax", "ebx", "ecx", "edx", "memory", "cc");
}

/* The initial stack: argument count, arguments (System V ABI for i386). */
void start(long *stack)
{
    const char **arguments = (const char **)(stack + 1);
    const long count = stack[0], loops = (count - 3) / 2;
    int questions[2], answers[2];
    if (count < 5 || count % 2 == 0 || loops > MOST_LOOPS) end(1);
    if (number(arguments[1]) < 1 || number(arguments[2]) < 1) end(1);
    if (system_call(SYS_PIPE, (long)questions, 0, 0) || system_call(SYS_PIPE, (long)answers, 0, 0)) end(1);
    const long other = system_call(SYS_FORK, 0, 0, 0);
    if (other < 0) end(1);
    if (other == 0) {
        system_call(SYS_CLOSE, questions[1], 0, 0); /* or it would wait for itself when the other has ended */
        answer(questions[0], answers[1]);
    }
    for (long i = 0; i < MOST_PAGES * DISTANCE; i += DISTANCE) data[i] = 1; /* a frame of its own for each page */
    to_other = questions[1];
    from_other = answers[0];
    work = nops_end;
    repeat(turns[MOST_LOOPS], number(arguments[1]));
    for (long i = 0; i < loops; i++) {
        byte = (char)('a' + i);
        work = work_of(arguments[3 + 2 * i][0], number(arguments[4 + 2 * i]));
        repeat(turns[i], number(arguments[2]));
        if (byte != (char)('a' + i)) end(4);
    }
    end(0);
}
__asm__(".globl _start\n_start: mov %esp, %eax\n\tpush %eax\n\tcall start");
