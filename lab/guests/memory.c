/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes Linux change page tables under a running process: mapping, unmapping, protecting, moving, giving back and
 * sharing memory, copy-on-write after fork, and segments of a local descriptor table. `memory ROUNDS`, or
 * `memory ROUNDS plain` without the segments, which not every kernel has. Every value is checked.
 */
#define _GNU_SOURCE
#include <asm/ldt.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 24, REGION = PAGE * PAGES };

static void wanted(int holds, const char *what)
{
    if (!holds) {
        printf("memory: FAIL %s\n", what);
        exit(1);
    }
}

static volatile char *map(int flags, int file)
{
    void *at = mmap(0, REGION, PROT_READ | PROT_WRITE, flags, file, 0);
    wanted(at != MAP_FAILED, "mmap");
    return at;
}

static void fill(volatile char *at, char value)
{
    for (int page = 0; page < PAGES; page++) at[page * PAGE] = value;
}

static int holds(volatile char *at, char value)
{
    for (int page = 0; page < PAGES; page++)
        if (at[page * PAGE] != value) return 0;
    return 1;
}

static sigjmp_buf refused;

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(refused, 1);
}

/* Whether a store to `at` is refused by a signal. */
static int refuses(volatile char *at)
{
    if (sigsetjmp(refused, 1)) return 1;
    *at = 1;
    return 0;
}

static void unmapped(void)
{
    volatile char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    fill(at, 1);
    munmap((void *)at, REGION);
    wanted(refuses(at), "a page that is not mapped");
    int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    volatile char *again = mmap((void *)at, REGION, PROT_READ | PROT_WRITE, how, -1, 0);
    wanted(holds(again, 0), "a page that is mapped anew");
    munmap((void *)again, REGION);
}

static void protected(void)
{
    volatile char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    fill(at, 2);
    mprotect((void *)at, REGION, PROT_READ);
    wanted(refuses(at) && holds(at, 2), "a page that is read-only");
    mprotect((void *)at, REGION, PROT_READ | PROT_WRITE);
    fill(at, 3);
    wanted(holds(at, 3), "a page that is writable again");
    munmap((void *)at, REGION);
}

static void moved(void)
{
    volatile char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    fill(at, 4);
    void *far = mmap(0, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile char *there = mremap((void *)at, REGION, REGION, MREMAP_MAYMOVE | MREMAP_FIXED, far);
    wanted(there == far && holds(there, 4) && refuses(at), "pages that have moved");
    munmap(far, REGION);
}

static void given_back(void)
{
    volatile char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    fill(at, 5);
    madvise((void *)at, REGION, MADV_DONTNEED);
    wanted(holds(at, 0), "pages that were given back");
    munmap((void *)at, REGION);
}

static void shared(void)
{
    int file = open("/tmp/shared", O_RDWR | O_CREAT | O_TRUNC, 0600);
    wanted(file >= 0 && ftruncate(file, REGION) == 0, "a file");
    volatile char *one = map(MAP_SHARED, file), *two = map(MAP_SHARED, file);
    fill(one, 6);
    wanted(holds(two, 6), "a file that is mapped twice");
    wanted(ftruncate(file, 0) == 0 && refuses(one), "a file that was cut");
    munmap((void *)one, REGION);
    munmap((void *)two, REGION);
    close(file);
    unlink("/tmp/shared");
}

/* After fork both have the same frames, read-only, until one of them writes. */
static void copied(void)
{
    volatile char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    fill(at, 7);
    pid_t child = fork();
    if (child == 0) {
        fill(at, 8);
        _exit(holds(at, 8) ? 0 : 1);
    }
    fill(at, 9);
    int status = 1;
    waitpid(child, &status, 0);
    wanted(status == 0 && holds(at, 9), "copy-on-write");
    munmap((void *)at, REGION);
}

/* A data segment of a local descriptor table over one word; this table is not the global one. */
static void through_ldt(void)
{
    static int word = 10;
    struct user_desc segment = {.entry_number = 0, .base_addr = (unsigned)&word, .limit = 3, .seg_32bit = 1};
    wanted(syscall(SYS_modify_ldt, 1, &segment, sizeof segment) == 0, "modify_ldt");
    int read;
    __asm__ volatile("push %%fs; mov %1, %%fs; mov %%fs:0, %0; pop %%fs" : "=&r"(read) : "r"(7));
    wanted(read == 10, "a local segment");
}

int main(int count, char **arguments)
{
    int rounds = count > 1 ? atoi(arguments[1]) : 1;
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    for (int round = 0; round < rounds; round++) {
        unmapped();
        protected();
        moved();
        given_back();
        shared();
        copied();
    }
    if (count < 3) through_ldt();
    printf("memory: done\n");
    return 0;
}
