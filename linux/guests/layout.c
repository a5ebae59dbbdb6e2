// SPDX-License-Identifier: GPL-2.0
// Where a program has its heap, what it maps and its stack. Programs with a stack of more than 32 MB, as those here,
// have the layout of Linux for this processor in each placement; the one that starts them has what it gets.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

enum { PAGE = 4096, RUNS = 8 };
#define MB (1ul << 20)
#define STACK (64 * MB)
#define LEGACY 0x40000000ul

struct places {
    unsigned long mapped, heap, stack;
};

/* Addresses that nothing has to be behind. */
static unsigned long reserve(unsigned long wanted, unsigned long length, int flags)
{
    return (unsigned long)mmap((void *)wanted, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags,
                               -1, 0);
}

static char *map(unsigned long wanted, unsigned long length, int flags)
{
    return mmap((void *)wanted, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static struct places here(void)
{
    int local;
    return (struct places){reserve(0, PAGE, 0), (unsigned long)sbrk(0), (unsigned long)&local};
}

/* What a child does: whether it says yes. */
static int child_says(int (*what)(unsigned long), unsigned long given)
{
    int status;
    pid_t p;

    fflush(stdout);
    p = fork();
    if (!p) _exit(!what(given));
    waitpid(p, &status, 0);
    return status == 0;
}

static int maps_below(unsigned long at) { return reserve(0, PAGE, 0) + PAGE == at; }

static int deep(unsigned long bytes)
{
    volatile char part[256 * 1024];

    part[0] = 1;
    return (bytes < sizeof part || deep(bytes - sizeof part)) && part[0];
}

/* Until there is nothing left, from 64 MB on in smaller and smaller pieces. */
static int has_all(unsigned long most)
{
    unsigned long size, sum = 0;

    for (size = 64 * MB; size >= MB; size /= 2)
        while (reserve(0, size, 0) != -1ul) sum += size;
    return sum > most && errno == ENOMEM;
}

/* 1.2 GB, of which the ends are written to; without counting what they might need. */
static int heap_grows(unsigned long bytes)
{
    char *start = sbrk(bytes);

    if (start == (char *)-1) return 0;
    start[0] = start[bytes - 1] = 1;
    return sbrk(-bytes) == start + bytes;
}

static void set_overcommit(const char *how)
{
    const int file = open("/proc/sys/vm/overcommit_memory", O_WRONLY);
    write(file, how, 1);
    close(file);
}

static void usual(void)
{
    const unsigned long first = reserve(0, PAGE, 0), second = reserve(0, 3 * PAGE, 0), third = reserve(0, PAGE, 0);
    const unsigned long distance = (unsigned long)&first - first, vdso = getauxval(AT_SYSINFO_EHDR);
    char *moving, *moved;

    CHECK("what is mapped goes downwards", second + 3 * PAGE == first && third + PAGE == second);
    CHECK("below the room for the stack", distance > 112 * MB && distance < 144 * MB);
    CHECK("above it is the vdso", vdso > first && vdso < first + 4 * MB);
    CHECK("and the stack grows into that room", child_says(deep, STACK - MB));
    CHECK("a child's goes on below", child_says(maps_below, third));
    munmap((void *)second, 3 * PAGE);
    CHECK("a gap is filled from above", reserve(0, PAGE, 0) == second + 2 * PAGE);
    CHECK("a place that is free is what is asked for", reserve(0x50000000, PAGE, 0) == 0x50000000);
    CHECK("one that is not is another", reserve(0x50000000, PAGE, 0) == second + PAGE);
    CHECK("one too low is the lowest", reserve(PAGE, PAGE, 0) == 0x10000);
    CHECK("96 MB are free at 1 GB", reserve(LEGACY, 96 * MB, MAP_FIXED_NOREPLACE) == LEGACY);
    CHECK("and then are not", reserve(LEGACY, PAGE, MAP_FIXED_NOREPLACE) == -1ul && errno == EEXIST);
    munmap((void *)LEGACY, 96 * MB);
    munmap((void *)0x50000000, PAGE);
    moving = map(0, PAGE, 0);
    strcpy(moving, "moved");
    moved = mremap(moving, PAGE, 16 * PAGE, MREMAP_MAYMOVE);
    CHECK("what is moved is below as well", moved + 16 * PAGE == (char *)third && !strcmp(moved, "moved"));
    set_overcommit("1");
    CHECK("the heap has 1.2 GB", child_says(heap_grows, 1200 * MB));
    set_overcommit("0");
    CHECK("all that is free can be mapped", child_says(has_all, 2200 * MB));
}

static void without_limit(void)
{
    const unsigned long first = reserve(0, PAGE, 0), second = reserve(0, PAGE, 0);

    CHECK("a stack without a limit has five sixths", first > 0x18000000 && first < 0x20000000);
    CHECK("below which it goes downwards", second + PAGE == first);
    CHECK("what does not fit there is above", reserve(0, 768 * MB, 0) == LEGACY);
}

static void legacy(void)
{
    const unsigned long first = reserve(0, PAGE, 0), second = reserve(0, PAGE, 0);

    CHECK("the compatible layout begins at 1 GB", first > LEGACY && first < LEGACY + 4 * MB);
    CHECK("and goes upwards", second == first + PAGE);
}

/* The program anew, with this stack and personality, as `name`; what it writes goes to `out`. */
static int again(const char *name, rlim_t stack, unsigned long persona, int out)
{
    const struct rlimit limit = {stack, RLIM_INFINITY};
    int status;
    pid_t p;

    fflush(stdout);
    p = fork();
    if (!p) {
        setrlimit(RLIMIT_STACK, &limit);
        personality(persona);
        dup2(out, 1);
        execl("/proc/self/exe", name, NULL);
        _exit(127);
    }
    waitpid(p, &status, 0);
    return status;
}

/* In how many of its runs a program with this personality has a place elsewhere than in the first. */
static struct places elsewhere(unsigned long persona)
{
    struct places first, p, n = {0, 0, 0};
    int i, ends[2];

    pipe(ends);
    for (i = 0; i < RUNS; i++) {
        if (again("places", STACK, persona, ends[1]) || read(ends[0], &p, sizeof p) != sizeof p) exit(2);
        if (!i) first = p;
        n.mapped += p.mapped != first.mapped;
        n.heap += p.heap != first.heap;
        n.stack += p.stack != first.stack;
    }
    close(ends[0]);
    close(ends[1]);
    return n;
}

static int writes_both(unsigned long at)
{
    char *start = (char *)at, *more = map(0, 96 * MB, 0);

    start[96 * MB - 1] = more[96 * MB - 1] = 2;
    return start[0] == 1 && more != start;
}

/* One that is started with what it gets, and then maps what the small layout has something of its own at. */
static void enlarged(void)
{
    char *before = map(0, 96 * MB, 0), *low, *after;

    before[0] = 1;
    low = map(0x10000 - PAGE, PAGE, MAP_FIXED);
    CHECK("the last page of the first 64 KB", low == (char *)0x10000 - PAGE);
    low[0] = 3;
    after = map(0, 96 * MB, 0);
    after[0] = 1;
    CHECK("a child has what was mapped before it", child_says(writes_both, (unsigned long)before));
    CHECK("and behind it", child_says(writes_both, (unsigned long)after) && low[0] == 3 && before[0] == 1);
    CHECK("1 GB is free for it", reserve(0, 1024 * MB, 0) != -1ul);
}

int main(int count, char **words)
{
    struct places n, found;

    if (!strcmp(words[0], "places")) {
        found = here();
        return write(1, &found, sizeof found) != sizeof found;
    }
    if (!strcmp(words[0], "usual")) usual();
    if (!strcmp(words[0], "without limit")) without_limit();
    if (!strcmp(words[0], "legacy")) legacy();
    if (strchr(words[0], '/') == NULL) return failed != 0;
    failed += again("usual", STACK, PER_LINUX, 1) != 0;
    failed += again("without limit", RLIM_INFINITY, PER_LINUX, 1) != 0;
    failed += again("legacy", STACK, ADDR_COMPAT_LAYOUT, 1) != 0;
    n = elsewhere(ADDR_NO_RANDOMIZE);
    CHECK("places are the same in each run if they are asked to be", !n.mapped && !n.heap && !n.stack);
    n = elsewhere(PER_LINUX);
    CHECK("else what is mapped is elsewhere", n.mapped);
    CHECK("and the heap", n.heap);
    CHECK("and the stack", n.stack);
    enlarged();
    printf("%d failed\n", failed);
    return failed != 0;
}
