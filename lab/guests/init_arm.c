/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only program of a Linux guest with an ARM processor, its init. It executes the commands that are its arguments,
 * which stand behind `--` in the kernel's options; when there are none left, those that are typed at the console:
 *   memory ROUNDS       makes Linux change page tables under a running process; every value is checked
 *   pipe ROUNDS WARMUP  sends a byte to and fro between two processes, between the laboratory's marks (docs/plugin.md)
 *   off                 ends the machine
 * Needs no C library, so that next to nothing runs beside the kernel.
 */
#include <stddef.h>

/* arch/arm/tools/syscall.tbl */
enum {
    SYS_EXIT = 1,
    SYS_FORK = 2,
    SYS_READ = 3,
    SYS_WRITE = 4,
    SYS_CLOSE = 6,
    SYS_PIPE = 42,
    SYS_REBOOT = 88,
    SYS_MUNMAP = 91,
    SYS_WAIT4 = 114,
    SYS_MPROTECT = 125,
    SYS_MREMAP = 163,
    SYS_MMAP2 = 192,
    SYS_MADVISE = 220
};
enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_SHARED = 1, MAP_ANONYMOUS = 0x20 };
enum { MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2, MADV_DONTNEED = 4 };
enum { REBOOT_MAGIC1 = 0xfee1dead, REBOOT_MAGIC2 = 672274793, REBOOT_RESTART = 0x01234567 }; /* linux/reboot.h */
enum { MARK_BEGIN = 0xC0B00001, MARK_ITERATION = 0xC0B00002, MARK_END = 0xC0B00003 };
enum { PAGE = 4096, PAGES = 24, REGION = PAGE * PAGES, MOST_WORDS = 16, LINE = 128 };

static long call(long number, long a, long b, long c, long d, long e)
{
    register long r7 __asm__("r7") = number, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d, r4 __asm__("r4") = e, r5 __asm__("r5") = 0;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
    return r0;
}

static void mark(unsigned long kind)
{
    register unsigned long r0 __asm__("r0") = kind, r1 __asm__("r1") = 0;
    __asm__ volatile("mov r12, r12" : : "r"(r0), "r"(r1) : "memory");
}

static size_t length(const char *text)
{
    size_t bytes = 0;
    while (text[bytes]) bytes++;
    return bytes;
}

static void say(const char *text) { call(SYS_WRITE, 1, (long)text, length(text), 0, 0); }

static void end(int status)
{
    for (;;) call(SYS_EXIT, status, 0, 0, 0, 0);
}

static int same(const char *one, const char *other)
{
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

static long number(const char *text)
{
    long value = 0;
    for (; *text >= '0' && *text <= '9'; text++) value = 10 * value + *text - '0';
    return value;
}

/* memory */

static void wanted(int holds, const char *what)
{
    if (holds) return;
    say("guest: FAIL ");
    say(what);
    say("\n");
}

static volatile char *map(int flags, int rights)
{
    return (volatile char *)call(SYS_MMAP2, 0, REGION, rights, flags | MAP_ANONYMOUS, -1);
}

static void fill(volatile char *at, char value)
{
    for (int page = 0; page < PAGES; page++) at[page * PAGE] = value;
}

static int holds(const volatile char *at, char value)
{
    for (int page = 0; page < PAGES; page++)
        if (at[page * PAGE] != value) return 0;
    return 1;
}

static void unmap(volatile char *at) { call(SYS_MUNMAP, (long)at, REGION, 0, 0, 0); }

static void protected(void)
{
    volatile char *at = map(MAP_PRIVATE, PROT_READ | PROT_WRITE);
    fill(at, 2);
    call(SYS_MPROTECT, (long)at, REGION, PROT_READ, 0, 0);
    wanted(holds(at, 2), "a page that is read-only");
    call(SYS_MPROTECT, (long)at, REGION, PROT_READ | PROT_WRITE, 0, 0);
    fill(at, 3);
    wanted(holds(at, 3), "a page that is writable again");
    unmap(at);
}

static void moved(void)
{
    volatile char *at = map(MAP_PRIVATE, PROT_READ | PROT_WRITE), *far = map(MAP_PRIVATE, PROT_NONE);
    fill(at, 4);
    long there = call(SYS_MREMAP, (long)at, REGION, REGION, MREMAP_MAYMOVE | MREMAP_FIXED, (long)far);
    wanted(there == (long)far && holds(far, 4), "pages that have moved");
    unmap(far);
}

static void given_back(void)
{
    volatile char *at = map(MAP_PRIVATE, PROT_READ | PROT_WRITE);
    fill(at, 5);
    call(SYS_MADVISE, (long)at, REGION, MADV_DONTNEED, 0, 0);
    wanted(holds(at, 0), "pages that were given back");
    unmap(at);
}

/* After fork both have the same frames, read-only, until one of them writes; what is shared stays one frame. */
static void copied(void)
{
    volatile char *at = map(MAP_PRIVATE, PROT_READ | PROT_WRITE), *ours = map(MAP_SHARED, PROT_READ | PROT_WRITE);
    fill(at, 7);
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        fill(at, 8);
        fill(ours, 6);
        end(!holds(at, 8));
    }
    fill(at, 9);
    int status = 1;
    call(SYS_WAIT4, child, (long)&status, 0, 0, 0);
    wanted(status == 0 && holds(at, 9) && holds(ours, 6), "copy-on-write");
    unmap(at);
    unmap(ours);
}

static void memory(long rounds)
{
    for (long round = 0; round < rounds; round++) {
        protected();
        moved();
        given_back();
        copied();
    }
    say("guest: memory done\n");
}

/* pipe */

static void send(int pipe)
{
    if (call(SYS_WRITE, pipe, (long)"x", 1, 0, 0) != 1) end(2);
}

static void receive(int pipe)
{
    char byte;
    if (call(SYS_READ, pipe, (long)&byte, 1, 0, 0) != 1) end(0); /* the other side has ended */
}

static void ask(int questions, int answers, long rounds, long warmup)
{
    mark(MARK_BEGIN);
    for (long round = 0; round < warmup + rounds; round++) {
        if (round >= warmup) mark(MARK_ITERATION);
        send(questions);
        receive(answers);
    }
    mark(MARK_ITERATION);
    mark(MARK_END);
}

static void pipes(long rounds, long warmup)
{
    int questions[2], answers[2];
    call(SYS_PIPE, (long)questions, 0, 0, 0, 0);
    call(SYS_PIPE, (long)answers, 0, 0, 0, 0);
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        call(SYS_CLOSE, questions[1], 0, 0, 0, 0); /* or it would wait for itself when the other has ended */
        for (;;) {
            receive(questions[0]);
            send(answers[1]);
        }
    }
    ask(questions[1], answers[0], rounds, warmup);
    for (int end = 0; end < 2; end++) {
        call(SYS_CLOSE, questions[end], 0, 0, 0, 0);
        call(SYS_CLOSE, answers[end], 0, 0, 0, 0);
    }
    call(SYS_WAIT4, child, 0, 0, 0, 0);
    say("guest: pipe done\n");
}

/* Executes the first command of these words; returns those behind it. */
static char **execute(char **words)
{
    if (same(*words, "memory") && words[1]) return memory(number(words[1])), words + 2;
    if (same(*words, "pipe") && words[1] && words[2]) return pipes(number(words[1]), number(words[2])), words + 3;
    if (same(*words, "off")) {
        say("guest: done\n");
        call(SYS_REBOOT, REBOOT_MAGIC1, REBOOT_MAGIC2, REBOOT_RESTART, 0, 0);
    }
    say("guest: commands are memory ROUNDS, pipe ROUNDS WARMUP, off\n");
    return words + 1;
}

/* The words of a line from the console, which it is cut into. */
static void read_words(char *line, char **words)
{
    long bytes = call(SYS_READ, 0, (long)line, LINE - 1, 0, 0);
    int many = 0;
    for (long at = 0; at < bytes && many < MOST_WORDS; at++) {
        int blank = line[at] == ' ' || line[at] == '\n';
        if (blank) line[at] = 0;
        else if (at == 0 || line[at - 1] == 0) words[many++] = line + at;
    }
    line[bytes > 0 ? bytes : 0] = 0;
    words[many] = 0;
}

void start(long *stack)
{
    say("guest: shell\n");
    for (char **words = (char **)(stack + 2); *words;) words = execute(words);
    for (;;) {
        static char line[LINE], *words[MOST_WORDS + 1];
        say("> ");
        read_words(line, words);
        for (char **rest = words; *rest;) rest = execute(rest);
    }
}
__asm__(".globl _start\n_start: mov r0, sp\n\tb start");
