/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only program of a Linux guest with an ARM processor, its init. It executes the commands that are its arguments,
 * which stand behind `--` in the kernel's options; when there are none left, those that are typed at the console:
 *   memory ROUNDS       makes Linux change page tables under a running process; every value is checked
 *   pipe ROUNDS WARMUP  sends a byte to and fro between two processes, between the laboratory's marks (docs/plugin.md);
 *                       so do fifo, unix and fcntl, by files, sockets and record locks; threads, unix_threads and
 *                       fcntl_threads have both sides in one process (potato_arm.c)
 *   fork ROUNDS WARMUP  makes processes, exec those with another program, shell such as make one more in turn;
 *                       pipe_stream and unix_stream send 64 KB (streams_arm.c); ring-PROCESSES-KB hands a token round,
 *                       and who has it reads so much memory (ring_arm.c). Of these kinds several can be one word, with
 *                       commas between
 *   crowd PROCESSES ROUNDS  has as many do what is hard for virtual caches (crowd_arm.c); with sharers they also write
 *                       to memory and a file of all
 *   heap                lets heaps grow to where the kernel has to make room for them (heap_arm.c)
 *   regions             has processes change what they have at one address above 2 GB (regions_arm.c)
 *   show FILE           prints a file, /proc/fass for example
 *   off                 ends the machine
 * Needs no C library, so that next to nothing runs beside the kernel.
 */
#include "arm_calls.h"

enum { PAGES = 24, REGION = PAGE * PAGES, MOST_WORDS = 16, LINE = 128 };
enum { REBOOT_MAGIC1 = 0xfee1dead, REBOOT_MAGIC2 = 672274793, REBOOT_RESTART = 0x01234567 }; /* linux/reboot.h */
enum { SEMIHOSTING_EXIT = 0x18, SEMIHOSTING_DONE = 0x20026 }; /* the application has ended well */
enum { MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2, MADV_DONTNEED = 4 };

char *program;

/* memory */

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
    wanted(status_of(child) == 0 && holds(at, 9) && holds(ours, 6), "copy-on-write");
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

void mount_proc(void)
{
    call(SYS_MKDIR, (long)"/proc", 0755, 0, 0, 0);
    call(SYS_MOUNT, (long)"proc", (long)"/proc", (long)"proc", 0, 0);
}

/* Prints a file, for example one of /proc. */
static void show(const char *name)
{
    char piece[LINE];
    mount_proc();
    long file = call(SYS_OPEN, (long)name, OPEN_READ, 0, 0, 0), bytes;
    if (file < 0) return say("guest: no such file\n");
    while ((bytes = call(SYS_READ, file, (long)piece, LINE, 0, 0)) > 0) call(SYS_WRITE, 1, (long)piece, bytes, 0, 0);
    call(SYS_CLOSE, file, 0, 0, 0, 0);
}

/* Measures what `kinds` names, with commas between; returns whether the first is one of them. */
static int measured(char *kinds, long rounds, long warmup)
{
    for (char *kind = kinds, *rest; kind; kind = rest) {
        for (rest = kind; *rest && *rest != ','; rest++) {}
        rest = *rest ? (*rest = 0, rest + 1) : 0;
        int is_kind = potato(kind, rounds, warmup) || stream_or_process(kind, rounds, warmup);
        if (!is_kind && !ring(kind, rounds, warmup)) {
            wanted(kind == kinds, "a kind that there is");
            return kind != kinds;
        }
        say("guest: ");
        say(kind);
        say(" done\n");
    }
    return 1;
}

/*
 * Ends the machine by semihosting, where programs may use that, or else by a reset, which not every emulated board has.
 * Linux itself takes no notice of the call's number in the instruction, so there it asks for nothing.
 */
static void off(void)
{
    say("guest: done\n");
    register long r0 __asm__("r0") = SEMIHOSTING_EXIT, r1 __asm__("r1") = SEMIHOSTING_DONE;
    register long r7 __asm__("r7") = SYS_GETPID;
    __asm__ volatile("svc 0x123456" : "+r"(r0) : "r"(r1), "r"(r7) : "memory");
    call(SYS_REBOOT, REBOOT_MAGIC1, REBOOT_MAGIC2, REBOOT_RESTART, 0, 0);
}

/* Executes the first command of these words; returns those behind it. */
static char **execute(char **words)
{
    if (same(*words, "memory") && words[1]) return memory(number(words[1])), words + 2;
    if (words[1] && words[2] && measured(*words, number(words[1]), number(words[2]))) return words + 3;
    int is_sharing = same(*words, "sharers"), is_crowd = is_sharing || same(*words, "crowd");
    if (is_crowd && words[1] && words[2]) return crowd(number(words[1]), number(words[2]), is_sharing), words + 3;
    if (same(*words, "show") && words[1]) return show(words[1]), words + 2;
    if (same(*words, "leaf") && words[1]) leaf(number(words[1]));
    if (same(*words, "heap")) return heap(), words + 1;
    if (same(*words, "regions")) return regions(), words + 1;
    if (same(*words, "grown")) grown();
    if (same(*words, "sh")) shell();
    if (same(*words, "off")) off();
    say("guest: commands are memory ROUNDS, KINDS ROUNDS WARMUP, crowd|sharers PROCESSES ROUNDS, heap, regions, "
        "show FILE, off; KIND is pipe, fifo, unix, fcntl, threads, unix_threads, fcntl_threads, pipe_stream, "
        "unix_stream, fork, exec, shell, ring-PROCESSES-KB\n");
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
    char **words = (char **)(stack + 2);
    program = (char *)stack[1];
    int other = *words && (same(*words, "leaf") || same(*words, "grown") || same(*words, "sh"));
    if (other) execute(words); /* another program's part */
    say("guest: shell\n");
    while (*words) words = execute(words);
    for (;;) {
        static char line[LINE], *words[MOST_WORDS + 1];
        say("> ");
        read_words(line, words);
        for (char **rest = words; *rest;) rest = execute(rest);
    }
}
__asm__(".globl _start\n_start: mov r0, sp\n\tb start");
