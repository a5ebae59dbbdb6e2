/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that several processes have at one address above 2 GB, which fast address-space switching lets them share TLB
 * entries of (fass=share, docs/linux-arm.md): what one of them does to its memory must show to it, and to the others
 * just as far as Linux says. Members are children that wait for steps to do, one at a time. Every value is checked.
 */
#include "arm_calls.h"

enum { AT = (int)0xa8000000, PAGES = 8, WORDS = PAGE / 4, SECTION = 2 << 20 };
enum { PAIRS = 4, SECTIONS = 6, TURNS = 3 }; /* each pair has so many sections */
enum { SEGV = 11, BUS = 7, MOVE = 3 /* may move, fixed */ };

typedef long (*Step)(void);
struct Member {
    long child;
    int to, from;
};

static volatile unsigned *const at = (volatile unsigned *)AT, *const far = (volatile unsigned *)(AT + 8 * SECTION);
static const char FILE[] = "/region";
static int file;
static unsigned base; /* of the values in the file's pages */

/* Each page holds its number at its begin. */
static void make_file(unsigned from)
{
    base = from;
    file = (int)call(SYS_OPEN, (long)FILE, OPEN_BOTH | OPEN_CREATE | OPEN_EMPTY, 0600, 0, 0);
    for (unsigned page = 0; page < PAGES; page++) {
        unsigned value = from + page;
        call(SYS_LSEEK, file, page * PAGE, 0, 0, 0);
        call(SYS_WRITE, file, (long)&value, 4, 0, 0);
    }
    call(SYS_FTRUNCATE, file, PAGES * PAGE, 0, 0, 0);
}

static int map_at(volatile unsigned *where, int flags, int rights)
{
    return call(SYS_MMAP2, (long)where, PAGES * PAGE, rights, flags | MAP_FIXED, file) == (long)where;
}

static long reads_all(void)
{
    for (unsigned page = 0; page < PAGES; page++)
        if (at[page * WORDS] != base + page) return 0;
    return 1;
}

static void serve(int from, int to)
{
    for (Step step; call(SYS_READ, from, (long)&step, sizeof step, 0, 0) == sizeof step && step;) {
        long result = step();
        call(SYS_WRITE, to, (long)&result, sizeof result, 0, 0);
    }
    end(0);
}

static struct Member member(void)
{
    int to[2], from[2];
    call(SYS_PIPE, (long)to, 0, 0, 0, 0);
    call(SYS_PIPE, (long)from, 0, 0, 0, 0);
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        call(SYS_CLOSE, to[1], 0, 0, 0, 0);
        call(SYS_CLOSE, from[0], 0, 0, 0, 0);
        serve(to[0], from[1]);
    }
    call(SYS_CLOSE, to[0], 0, 0, 0, 0);
    call(SYS_CLOSE, from[1], 0, 0, 0, 0);
    return (struct Member){child, to[1], from[0]};
}

static long ask(const struct Member *of, Step step)
{
    long result = 0;
    call(SYS_WRITE, of->to, (long)&step, sizeof step, 0, 0);
    return call(SYS_READ, of->from, (long)&result, sizeof result, 0, 0) == sizeof result ? result : -1;
}

/* There is no step left for it; members that were made later have its pipe as well. */
static int leaves(const struct Member *of)
{
    Step none = 0;
    call(SYS_WRITE, of->to, (long)&none, sizeof none, 0, 0);
    call(SYS_CLOSE, of->to, 0, 0, 0, 0);
    call(SYS_CLOSE, of->from, 0, 0, 0, 0);
    return status_of(of->child);
}

/* The signal that ends the member in this step. */
static int dies(const struct Member *of, Step step)
{
    call(SYS_WRITE, of->to, (long)&step, sizeof step, 0, 0);
    return leaves(of) & 127;
}

/*
 * Two children, which inherit what their parent has mapped. All three read: the second child comes last, so that it
 * finds everything there and never maps a page of its own.
 */
static void all_join(struct Member *two)
{
    two[0] = member();
    two[1] = member();
    wanted(reads_all() && ask(&two[0], reads_all) == 1, "what the first ones read");
    wanted(reads_all() && ask(&two[1], reads_all) == 1, "what the last one reads");
}

static void both_leave(const struct Member *two)
{
    wanted(leaves(&two[0]) == 0 && leaves(&two[1]) == 0, "members that leave");
}

static long unmaps(void) { return call(SYS_MUNMAP, AT, PAGES * PAGE, 0, 0, 0) == 0; }
static long closes(void) { return call(SYS_MPROTECT, AT, PAGES * PAGE, PROT_NONE, 0, 0) == 0; }
static long writes(void) { return at[WORDS] = 7; }
static long restores(void) { return at[WORDS] = base + 1; }
static long reads_written(void) { return at[WORDS] == 7; }
static long reads_both(void) { return at[2 * WORDS] == base + 2 && at[WORDS] == 7; }
static long only_reads(void) { return call(SYS_MPROTECT, AT, PAGES * PAGE, PROT_READ, 0, 0) == 0; }

static void one_has_it_no_more(int flags, int rights)
{
    struct Member two[2];
    wanted(map_at(at, flags, rights), "a region");
    all_join(two);
    wanted(ask(&two[1], unmaps) == 1 && dies(&two[1], reads_all) == SEGV, "one that has unmapped it");
    wanted(ask(&two[0], reads_all) == 1 && reads_all(), "what others have when one unmaps it");
    wanted(ask(&two[0], closes) == 1 && dies(&two[0], reads_all) == SEGV, "one that has closed it");
    wanted(reads_all(), "what is left for the last one");
    unmaps();
}

static long maps_others(void)
{
    volatile unsigned *mine = at;
    long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    call(SYS_MMAP2, AT, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, -1);
    return mine[WORDS] == 0 ? writes() : 0;
}

static long moves(void)
{
    long there = call(SYS_MREMAP, AT, PAGES * PAGE, PAGES * PAGE, MOVE, (long)far);
    return there == (long)far && far[WORDS] == base + 1;
}

static void strangers(void)
{
    struct Member two[2], stranger = member();
    wanted(map_at(at, MAP_PRIVATE, PROT_READ), "a region");
    all_join(two);
    wanted(dies(&stranger, reads_all) == SEGV, "one that has never mapped it");
    wanted(ask(&two[0], maps_others) == 7 && ask(&two[0], reads_written) == 1, "one that has other memory there");
    wanted(ask(&two[1], reads_all) == 1 && reads_all(), "what others have when one has other memory");
    wanted(ask(&two[1], moves) == 1 && dies(&two[1], reads_all) == SEGV, "one that has moved it");
    wanted(reads_all() && ask(&two[0], reads_written) == 1, "what is left where it was");
    wanted(leaves(&two[0]) == 0, "a member that leaves");
    unmaps();
}

static void written_by_all(void)
{
    struct Member two[2];
    wanted(map_at(at, MAP_SHARED, PROT_READ | PROT_WRITE), "shared memory");
    all_join(two);
    wanted(ask(&two[1], writes) == 7 && ask(&two[0], reads_written) == 1 && at[WORDS] == 7, "what one has written");
    restores();
    wanted(ask(&two[0], reads_all) == 1 && ask(&two[1], reads_all) == 1, "what the parent has written");
    wanted(ask(&two[0], only_reads) == 1 && ask(&two[0], reads_all) == 1, "one that may only read");
    wanted(ask(&two[1], writes) == 7 && ask(&two[0], reads_written) == 1, "what it reads then");
    wanted(dies(&two[0], restores) == SEGV, "one that may only read, and writes");
    unsigned found = 0;
    call(SYS_LSEEK, file, PAGE, 0, 0, 0);
    call(SYS_READ, file, (long)&found, 4, 0, 0);
    wanted(found == 7, "the file when it was written to by memory");
    restores();
    wanted(ask(&two[1], reads_all) == 1 && leaves(&two[1]) == 0, "a member that leaves");
    unmaps();
}

/* Its copy is its own, also if it has never had the page before. */
static void written_by_one(void)
{
    struct Member two[2];
    wanted(map_at(at, MAP_PRIVATE, PROT_READ | PROT_WRITE), "a region that is copied on writing");
    all_join(two);
    wanted(ask(&two[1], writes) == 7 && ask(&two[1], reads_written) == 1, "a page of its own");
    wanted(reads_all() && ask(&two[0], reads_all) == 1, "what others have of it");
    wanted(ask(&two[1], reads_both) == 1, "a page in common, then one of its own");
    wanted(ask(&two[0], writes) == 7 && reads_all() && ask(&two[1], reads_written) == 1, "two pages of their own");
    both_leave(two);
    unmaps();
}

/* A page of its own without a store, as a debugger makes it. */
static long writes_from_outside(void)
{
    unsigned seven = 7;
    long memory = call(SYS_OPEN, (long)"/proc/self/mem", OPEN_BOTH, 0, 0, 0);
    return call6(SYS_PWRITE64, memory, (long)&seven, sizeof seven, 0, AT + PAGE, 0) == sizeof seven; /* 64 bits */
}

static void written_from_outside(void)
{
    struct Member two[2];
    mount_proc();
    wanted(map_at(at, MAP_PRIVATE, PROT_READ), "a region");
    all_join(two);
    wanted(ask(&two[1], writes_from_outside) == 1, "memory as a file");
    wanted(ask(&two[1], reads_written) == 1, "what was written to a page that is only read");
    wanted(reads_all() && ask(&two[0], reads_all) == 1, "what others have of it");
    both_leave(two);
    unmaps();
}

static long reads_some(void)
{
    for (unsigned page = 0; page < PAGES; page++) (void)at[page * WORDS];
    return 1;
}

static long reads_last(void) { return at[(PAGES - 1) * WORDS]; }
static long maps_twice(void) { return map_at(far, MAP_SHARED, PROT_READ | PROT_WRITE); }
static long writes_elsewhere(void) { return far[WORDS] = 7; }
static long writes_twice(void)
{
    far[WORDS] = 8;
    at[0] = 8;
    return at[WORDS] == 8 && far[0] == 8;
}

/* The file changes under all: by a write, by memory elsewhere, by becoming shorter. */
static void file_changes(int flags, int rights)
{
    struct Member two[2];
    wanted(map_at(at, flags, rights), "a region");
    all_join(two);
    call(SYS_LSEEK, file, (PAGES - 1) * PAGE, 0, 0, 0);
    unsigned value = 99;
    call(SYS_WRITE, file, (long)&value, 4, 0, 0);
    wanted(ask(&two[1], reads_last) == 99 && ask(&two[0], reads_last) == 99 && reads_last() == 99, "a page written to");
    call(SYS_FTRUNCATE, file, PAGE, 0, 0, 0);
    wanted(dies(&two[0], reads_last) == BUS, "a page that the file has no more");
    call(SYS_FTRUNCATE, file, PAGES * PAGE, 0, 0, 0);
    wanted(reads_last() == 0 && ask(&two[1], reads_last) == 0, "a page that the file has again");
    wanted(reads_some() && ask(&two[1], reads_some) == 1, "all pages, which the child finds");
    wanted(ask(&two[1], maps_twice) == 1 && ask(&two[1], writes_elsewhere) == 7, "one that has it twice");
    if (flags == MAP_SHARED) wanted(ask(&two[1], reads_written) == 1, "what it has written by its other address");
    wanted(reads_written(), "what was written by another address");
    if (flags == MAP_SHARED) {
        wanted(ask(&two[1], writes_twice) == 1, "what it has written by both");
        wanted(at[0] == 8 && at[WORDS] == 8, "what was written by both");
    }
    wanted(leaves(&two[1]) == 0, "a member that leaves");
    unmaps();
}

static long maps(void) { return map_at(at, MAP_SHARED, PROT_READ | PROT_WRITE); }
static long reads_elsewhere(void) { return far[WORDS]; }

/* One has the file at another address before the others map it, and before the last of them comes. */
static void elsewhere_before(void)
{
    struct Member other = member(), three[3] = {member(), member(), member()};
    wanted(ask(&other, maps_twice) == 1 && ask(&other, reads_elsewhere) == (long)base + 1, "one that has it elsewhere");
    for (unsigned one = 0; one < 3; one++) wanted(ask(&three[one], maps) == 1, "one that maps it later");
    for (unsigned turn = 0; turn < 2; turn++)
        wanted(ask(&three[0], reads_all) == 1 && ask(&three[1], reads_all) == 1, "what the first ones read");
    wanted(ask(&other, reads_elsewhere) == (long)base + 1, "what it has elsewhere");
    wanted(ask(&three[0], writes) == 7 && ask(&other, reads_elsewhere) == 7, "what the first one writes");
    wanted(ask(&three[2], restores) == (long)base + 1, "the last one, which has not mapped a page of its own");
    wanted(ask(&other, reads_elsewhere) == (long)base + 1 && leaves(&other) == 0, "what the last one writes");
    for (unsigned one = 0; one < 3; one++) wanted(leaves(&three[one]) == 0, "a member that leaves");
}

static unsigned first; /* of the group's sections */

static long reads_sections(void)
{
    for (unsigned section = first; section < first + SECTIONS; section++)
        if (at[section * (SECTION / 4)] != base + section % PAGES) return 0;
    return 1;
}

/* Pairs that have regions of their own each: more regions than there are domains. */
static void many(void)
{
    struct Member pairs[2 * PAIRS];
    for (unsigned section = 0; section < PAIRS * SECTIONS; section++) {
        long where = AT + section * SECTION, page = section % PAGES;
        call6(SYS_MMAP2, where, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, page);
    }
    for (unsigned one = 0; one < 2 * PAIRS; one++) {
        first = one / 2 * SECTIONS;
        pairs[one] = member();
    }
    for (unsigned turn = 0; turn < TURNS; turn++)
        for (unsigned one = 0; one < 2 * PAIRS; one++)
            wanted(ask(&pairs[one], reads_sections) == 1, "more regions than domains");
    for (unsigned one = 0; one < 2 * PAIRS; one++) wanted(leaves(&pairs[one]) == 0, "one of a pair that leaves");
    for (unsigned section = 0; section < PAIRS * SECTIONS; section++)
        call(SYS_MUNMAP, AT + section * SECTION, PAGE, 0, 0, 0);
}

void regions(void)
{
    make_file(100);
    one_has_it_no_more(MAP_PRIVATE, PROT_READ);
    one_has_it_no_more(MAP_SHARED, PROT_READ | PROT_WRITE);
    strangers();
    written_by_all();
    written_by_one();
    written_from_outside();
    elsewhere_before();
    many();
    file_changes(MAP_PRIVATE, PROT_READ);
    make_file(200);
    file_changes(MAP_SHARED, PROT_READ | PROT_WRITE);
    call(SYS_CLOSE, file, 0, 0, 0, 0);
    say("guest: regions done\n");
}
