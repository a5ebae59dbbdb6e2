/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many processes of a Linux guest with an ARM processor, which use the same addresses for different memory and the same
 * memory at different addresses. They run in turn and hand a token on. Each turn forks, executes a program, moves and
 * protects pages, and if they share uses memory and a file of all; every value that is read is one that is known.
 */
#include "arm_calls.h"

enum { MOST = 64, OWN_PAGES = 12, SHARED_WORDS = 1024, BLOCK = 6000, LEAF = 7 };
enum { OWN = 0x00700000, FAR = 0x30000000, HIGH = 0x70000000, STEP = 0x00201000 }; /* addresses, of pages of its own */

static const char FILE[] = "/shared";
static unsigned own_data[2048];

struct Self {
    unsigned number, many;
    volatile unsigned *shared; /* one for all, at the same address everywhere; 0: they share nothing */
    volatile unsigned *elsewhere; /* the same file at an address that not two have */
    int file;
};

static unsigned pattern(unsigned number, unsigned round, unsigned word) { return number << 24 ^ round << 12 ^ word; }

static volatile unsigned *pages_at(unsigned long address, unsigned pages)
{
    long flags = MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0);
    return (volatile unsigned *)call(SYS_MMAP2, (long)address, (long)pages * PAGE, PROT_READ | PROT_WRITE, flags, -1);
}

static void fill(volatile unsigned *at, unsigned words, unsigned number, unsigned round)
{
    for (unsigned word = 0; word < words; word += 61) at[word] = pattern(number, round, word);
}

static int holds(const volatile unsigned *at, unsigned words, unsigned number, unsigned round)
{
    for (unsigned word = 0; word < words; word += 61)
        if (at[word] != pattern(number, round, word)) return 0;
    return 1;
}

/* Memory that every process has at the same addresses: what the last turn left is there, then it is filled anew. */
static void same_addresses(const struct Self *self, unsigned round)
{
    enum { WORDS = OWN_PAGES * PAGE / 4 };
    unsigned long places[] = {OWN, FAR, HIGH};
    for (unsigned place = 0; place < 3; place++) {
        if (round == 0) wanted(pages_at(places[place], OWN_PAGES) == (void *)places[place], "a fixed mapping");
        volatile unsigned *at = (volatile unsigned *)places[place];
        if (round > 0) wanted(holds(at, WORDS, self->number, round - 1), "pages of its own");
        fill(at, WORDS, self->number, round);
    }
    if (round > 0) wanted(holds(own_data, 2048, self->number, round - 1), "data of its own");
    fill(own_data, 2048, self->number, round);
}

/* A child sees what was there, changes it for itself, and ends. */
static void forked(const struct Self *self, unsigned round)
{
    enum { WORDS = OWN_PAGES * PAGE / 4 };
    volatile unsigned *at = (volatile unsigned *)FAR, *high = (volatile unsigned *)HIGH;
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        int right = holds(at, WORDS, self->number, round) && holds(high, WORDS, self->number, round);
        fill(at, WORDS, 99, round);
        end(right && holds(at, WORDS, 99, round) ? 0 : 1);
    }
    fill(own_data, 2048, self->number, round);
    wanted(status_of(child) == 0, "what a child inherits");
    wanted(holds(at, WORDS, self->number, round), "what a child has changed for itself");
}

/* Another program takes the child's place. */
static void executed(void)
{
    static char command[] = "leaf", status[] = "7";
    char *words[] = {program, command, status, 0}, *environment[] = {0};
    long child = call(SYS_FORK, 0, 0, 0, 0, 0);
    if (child == 0) {
        call(SYS_EXECVE, (long)program, (long)words, (long)environment, 0, 0);
        end(1);
    }
    wanted(status_of(child) == LEAF << 8, "a program that a child executes");
}

/* Pages come, lose rights, get them back, and go; then others are there. */
static void comes_and_goes(const struct Self *self, unsigned round)
{
    enum { PAGES = 4, WORDS = PAGES * PAGE / 4 };
    unsigned long where = 0x00a00000 + (self->number + round) % 7 * PAGE;
    volatile unsigned *at = pages_at(where, PAGES);
    fill(at, WORDS, self->number, round);
    call(SYS_MPROTECT, (long)at, PAGES * PAGE, PROT_READ, 0, 0);
    wanted(holds(at, WORDS, self->number, round), "pages that are read-only");
    call(SYS_MPROTECT, (long)at, PAGES * PAGE, PROT_READ | PROT_WRITE, 0, 0);
    fill(at, WORDS, self->number, round + 1);
    volatile unsigned *moved = (volatile unsigned *)0x50000000;
    long there = call(SYS_MREMAP, (long)at, PAGES * PAGE, PAGES * PAGE, 3 /* may move, fixed */, (long)moved);
    wanted(there == (long)moved && holds(moved, WORDS, self->number, round + 1), "pages that have moved");
    call(SYS_MUNMAP, (long)moved, PAGES * PAGE, 0, 0, 0);
    at = pages_at(where, PAGES);
    wanted(at[0] == 0 && at[PAGE / 4] == 0, "pages that come anew");
    call(SYS_MUNMAP, (long)at, PAGES * PAGE, 0, 0, 0);
}

/*
 * What the one before has written, by its own address, is here by another, and in the file; and so it is left for the
 * next. A process uses one mapping of the two, or Linux would not have the page cached.
 */
static void shares(const struct Self *self, unsigned token)
{
    unsigned word = token % SHARED_WORDS, found = 0;
    volatile unsigned *mine = self->number % 2 ? self->elsewhere : self->shared;
    wanted(mine[word] == token, "a word of shared memory");
    call(SYS_LSEEK, self->file, word * 4, 0, 0, 0);
    call(SYS_READ, self->file, (long)&found, 4, 0, 0);
    wanted(found == token, "the word as the file has it");
    word = (token + 1) % SHARED_WORDS;
    unsigned next = token + 1;
    int by_the_file = token % 3 == 1;
    if (!by_the_file) mine[word] = next;
    if (!by_the_file) return;
    call(SYS_LSEEK, self->file, word * 4, 0, 0, 0);
    call(SYS_WRITE, self->file, (long)&next, 4, 0, 0);
}

/*
 * Where they share, every other turn does nothing else: all else flushes what shared memory would have to. So the first
 * of them makes no process in its first turn.
 */
static void turn(const struct Self *self, unsigned round, unsigned token)
{
    if (self->shared) shares(self, token);
    if (self->shared && round % 2) return;
    unsigned work = self->shared ? round / 2 : round;
    same_addresses(self, work);
    if ((self->number + work) % 3 == 1) forked(self, work);
    if ((self->number + work) % 5 == 2) executed();
    comes_and_goes(self, work);
    wanted(holds(own_data, 2048, self->number, work), "data of its own at the end");
}

static void map_elsewhere(struct Self *self)
{
    self->file = (int)call(SYS_OPEN, (long)FILE, OPEN_BOTH, 0, 0, 0);
    self->elsewhere = (volatile unsigned *)call(SYS_MMAP2, 0x48000000 + (long)self->number * STEP, SHARED_WORDS * 4,
                                                PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, self->file);
}

static void member(struct Self self, unsigned rounds, int from, int to)
{
    if (self.shared) map_elsewhere(&self);
    for (unsigned round = 0; round < rounds; round++) {
        unsigned token = 0;
        if (call(SYS_READ, from, (long)&token, 4, 0, 0) != 4) end(3);
        turn(&self, round, token);
        token++;
        if (call(SYS_WRITE, to, (long)&token, 4, 0, 0) != 4) end(4);
    }
    end(0);
}

/* A file of zeros that all map; returns the first mapping, which children inherit. */
static volatile unsigned *shared_memory(void)
{
    int file = (int)call(SYS_OPEN, (long)FILE, OPEN_BOTH | OPEN_CREATE | OPEN_EMPTY, 0600, 0, 0);
    unsigned zero = 0;
    for (unsigned word = 0; word < SHARED_WORDS; word++) call(SYS_WRITE, file, (long)&zero, 4, 0, 0);
    void *at = (void *)call(SYS_MMAP2, 0, SHARED_WORDS * 4, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    call(SYS_CLOSE, file, 0, 0, 0, 0);
    return at;
}

void leaf(long status)
{
    wanted(own_data[0] == 0 && own_data[61] == 0, "data of a new program");
    fill(own_data, 2048, 3, (unsigned)status);
    end(holds(own_data, 2048, 3, (unsigned)status) ? (int)status : 1);
}

void crowd(long processes, long rounds, int sharing)
{
    int pipes[MOST + 1][2];
    long children[MOST];
    if (processes < 1 || processes > MOST || rounds < 1) return say("guest: crowd: 1 to 64 processes\n");
    struct Self self = {0, (unsigned)processes, sharing ? shared_memory() : 0, 0, -1};
    for (long one = 0; one <= processes; one++) call(SYS_PIPE, (long)pipes[one], 0, 0, 0, 0);
    for (long one = 0; one < processes; one++) {
        self.number = (unsigned)one;
        children[one] = call(SYS_FORK, 0, 0, 0, 0, 0);
        if (children[one] == 0) member(self, (unsigned)rounds, pipes[one][0], pipes[one + 1][1]);
        wanted(children[one] > 0, "a process more");
    }
    unsigned token = 0;
    for (long round = 0; round < rounds; round++) {
        call(SYS_WRITE, pipes[0][1], (long)&token, 4, 0, 0);
        if (call(SYS_READ, pipes[processes][0], (long)&token, 4, 0, 0) != 4) break;
    }
    wanted(token == (unsigned)(processes * rounds), "all turns");
    for (long one = 0; one < processes; one++) wanted(status_of(children[one]) == 0, "a process that comes to its end");
    for (long one = 0; one <= processes; one++) {
        call(SYS_CLOSE, pipes[one][0], 0, 0, 0, 0);
        call(SYS_CLOSE, pipes[one][1], 0, 0, 0, 0);
    }
    if (sharing) call(SYS_MUNMAP, (long)self.shared, SHARED_WORDS * 4, 0, 0, 0);
    say(sharing ? "guest: sharers done\n" : "guest: crowd done\n");
}
