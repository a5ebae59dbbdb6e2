// SPDX-License-Identifier: GPL-2.0
/*
 * The clock that programs read without a call: it says what the calls say, of all clocks, in a time
 * namespace and after somebody has set it, and shows nothing else; each line is one check.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define S 1000000000ll
#define PAGE 4096
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

struct time64 {
    long long s, ns;
};
typedef int (*gettime64)(int clock, struct time64 *time);

static gettime64 read_clock;
static const int clocks[] = {CLOCK_REALTIME,        CLOCK_MONOTONIC,        CLOCK_BOOTTIME,     CLOCK_TAI,
                             CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW};
#define CLOCKS ((int)(sizeof(clocks) / sizeof(*clocks)))

/* A function of the kernel's image, or NULL. */
static void *function(const char *name)
{
    const char *image = (const char *)getauxval(AT_SYSINFO_EHDR), *names = NULL;
    const Elf32_Phdr *header = (const void *)(image + ((const Elf32_Ehdr *)image)->e_phoff);
    const Elf32_Sym *symbols = NULL;
    const Elf32_Dyn *d = NULL;
    const Elf32_Word *hash = NULL;
    unsigned int i;

    for (i = 0; i < ((const Elf32_Ehdr *)image)->e_phnum; i++)
        if (header[i].p_type == PT_DYNAMIC) d = (const void *)(image + header[i].p_vaddr);
    for (; d && d->d_tag; d++) {
        if (d->d_tag == DT_STRTAB) names = image + d->d_un.d_ptr;
        if (d->d_tag == DT_SYMTAB) symbols = (const void *)(image + d->d_un.d_ptr);
        if (d->d_tag == DT_HASH) hash = (const void *)(image + d->d_un.d_ptr);
    }
    for (i = 0; names && symbols && hash && i < hash[1]; i++)
        if (!strcmp(names + symbols[i].st_name, name)) return (void *)(image + symbols[i].st_value);
    return NULL;
}

static long long by_image(int clock)
{
    struct time64 t = {-1, -1};

    return read_clock(clock, &t) ? -1 : t.s * S + t.ns;
}

static long long by_call(int clock)
{
    struct time64 t = {-1, -1};

    return syscall(SYS_clock_gettime64, clock, &t) ? -1 : t.s * S + t.ns;
}

/* How a child ends that does this. */
static int in_child(int (*what)(void))
{
    int status = -1;
    pid_t p;

    fflush(stdout);
    p = fork();
    if (!p) _exit(what());
    waitpid(p, &status, 0);
    return status;
}

static int no_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
    };
    struct sock_fprog filter = {.len = sizeof(code) / sizeof(*code), .filter = code};
    const int source = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY);
    char name[16] = "";
    int (*resolution)(int clock, struct timespec *t) = function("__vdso_clock_getres");
    struct timespec t;
    struct timeval v;
    long long coarse;
    time_t now;
    int i;

    if (source < 0 || read(source, name, sizeof(name) - 1) < 0) return 1;
    printf("source %s", name);
    fflush(stdout);
    /* natively Linux may have left the counter for a clock that no program can read */
    if (strcmp(name, "tsc\n")) return 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 2;
    for (i = 0; i < CLOCKS; i++)
        if (by_image(clocks[i]) < 0 || clock_gettime(clocks[i], &t) || resolution(clocks[i], &t)) return 3;
    /* time() has the coarse clock's second, which begins with a tick */
    coarse = by_image(CLOCK_REALTIME_COARSE);
    now = time(NULL);
    return gettimeofday(&v, NULL) || now < coarse / S || now > v.tv_sec ? 4 : 0;
}

static void same(void)
{
    int (*resolution)(int clock, struct timespec *t) = function("__vdso_clock_getres");
    struct timespec mine, kernels;
    int i, n, right = 0, alike = 0;

    for (i = 0; i < CLOCKS; i++) {
        int good = 1;

        for (n = 0; n < 1000 && good; n++) {
            const long long before = by_call(clocks[i]), between = by_image(clocks[i]), after = by_call(clocks[i]);

            good = before > 0 && before <= between && between <= after;
        }
        if (!good) printf("clock %d\n", clocks[i]);
        right += good;
        alike += !resolution(clocks[i], &mine) && !syscall(SYS_clock_getres, clocks[i], &kernels) &&
                 mine.tv_sec == kernels.tv_sec && mine.tv_nsec == kernels.tv_nsec;
    }
    CHECK("each clock is between two calls", right == CLOCKS);
    CHECK("their steps are the calls'", alike == CLOCKS);
}

static void forward(void)
{
    const long long begin = by_image(CLOCK_MONOTONIC);
    long long last = begin;
    int back = 0;

    while (last < begin + S / 2) {
        const long long t = by_image(CLOCK_MONOTONIC);

        back += t < last;
        last = t;
    }
    CHECK("it goes forward for half a second", !back);
}

static void others(void)
{
    struct timespec t;
    struct timeval v, w;
    long long between;

    CHECK("what a process has run, by a call",
          by_image(CLOCK_PROCESS_CPUTIME_ID) > 0 && !clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) && t.tv_nsec > 0);
    CHECK("no such clock", clock_gettime(77, &t) == -1 && errno == EINVAL && read_clock(77, (void *)&t) == -EINVAL);
    gettimeofday(&v, NULL);
    syscall(SYS_gettimeofday, &w, NULL);
    between = (w.tv_sec - v.tv_sec) * 1000000ll + w.tv_usec - v.tv_usec;
    CHECK("gettimeofday", between >= 0 && between < 1000000);
}

static void set(void)
{
    struct timespec t;
    long long behind;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 5000;
    if (clock_settime(CLOCK_REALTIME, &t)) return;
    behind = by_image(CLOCK_REALTIME) - t.tv_sec * S - t.tv_nsec;
    CHECK("it has been set", behind >= 0 && behind < S);
    t.tv_sec -= 5000;
    clock_settime(CLOCK_REALTIME, &t);
}

/* Where something of the kernel's is, and how long it is. */
static char *place(const char *name, unsigned long *size)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long from = 0, to;
    char line[200];

    while (maps && fgets(line, sizeof(line), maps))
        if (strstr(line, name) && sscanf(line, "%lx-%lx", &from, &to) == 2) *size = to - from;
    if (maps) fclose(maps);
    return (char *)from;
}

static int writes(void)
{
    unsigned long size;
    volatile char *page = place("[vvar]", &size);

    return *page = 1;
}

static int reads_offsets(void)
{
    unsigned long size;

    return ((volatile char *)place("[vvar]", &size))[PAGE];
}

static void protected(void)
{
    const int memory = open("/proc/self/mem", O_RDWR);
    unsigned long size = 0;
    char *page = place("[vvar]", &size), buffer[1];

    CHECK("its data is before it", page && page + size == (char *)getauxval(AT_SYSINFO_EHDR));
    CHECK("nobody writes it", mprotect(page, PAGE, PROT_READ | PROT_WRITE) == -1 && errno == EACCES &&
                                  WTERMSIG(in_child(writes)) == SIGSEGV);
    CHECK("no offsets outside a time namespace", WTERMSIG(in_child(reads_offsets)) == SIGBUS);
    CHECK("nor by its file", pwrite64(memory, buffer, 1, (unsigned long)page) == -1 && errno == EIO &&
                                 pread64(memory, buffer, 1, (unsigned long)page) == -1 && errno == EIO);
    close(memory);
}

/* By int: the C library does not know where the entry is then. */
static long by_int(long number, long a, void *b)
{
    asm volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b) : "memory");
    return number;
}

static int moved(void)
{
    unsigned long size = 0, length = 0;
    char *from = place("[vvar]", &size), *image = place("[vdso]", &length);
    char *to = mmap(NULL, size + length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const gettime64 clock = (gettime64)((char *)read_clock - image + to + size);
    struct time64 mine = {0}, kernels = {0};

    if (mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED ||
        mremap(image, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, to + size) == MAP_FAILED ||
        clock(CLOCK_MONOTONIC, &mine) || by_int(SYS_clock_gettime64, CLOCK_MONOTONIC, &kernels))
        by_int(SYS_exit, 1, NULL);
    by_int(SYS_exit, mine.s * S + mine.ns > kernels.s * S + kernels.ns, NULL);
    return 0;
}

/* A thousand seconds on, and an hour: by a fork, by joining, and by leaving again. */
static int forked(void)
{
    const long long t = by_image(CLOCK_MONOTONIC), c = by_call(CLOCK_MONOTONIC);

    return t < 1000 * S || c < t || c > t + S || by_image(CLOCK_MONOTONIC_COARSE) < 1000 * S ||
           by_image(CLOCK_BOOTTIME) < 3600 * S || by_image(CLOCK_REALTIME) > by_call(CLOCK_REALTIME);
}

static int namespaces(void)
{
    static const char offsets[] = "monotonic 1000 0\nboottime 3600 0\n";
    const int old = open("/proc/self/ns/time", O_RDONLY);
    int out, new, before, good;

    if (unshare(CLONE_NEWTIME)) return 1;
    out = open("/proc/self/timens_offsets", O_WRONLY);
    if (write(out, offsets, strlen(offsets)) < 0) return 2;
    close(out);
    before = by_image(CLOCK_MONOTONIC) < 1000 * S;
    CHECK("a child in a time namespace", before && !in_child(forked));
    new = open("/proc/self/ns/time_for_children", O_RDONLY);
    good = !setns(new, CLONE_NEWTIME) && !forked();
    CHECK("who joins it", good);
    CHECK("who leaves it", !setns(old, CLONE_NEWTIME) && forked() && by_image(CLOCK_MONOTONIC) > 0);
    fflush(stdout);
    return failed;
}

int main(void)
{
    read_clock = (gettime64)function("__vdso_clock_gettime64");
    CHECK("its functions", read_clock && function("__vdso_clock_gettime") && function("__vdso_gettimeofday") &&
                               function("__vdso_time") && function("__vdso_clock_getres"));
    if (!read_clock) return 1;
    CHECK("without a call", !in_child(no_calls));
    same();
    forward();
    others();
    set();
    protected();
    CHECK("where a program has moved it", !in_child(moved));
    CHECK("time namespaces", !in_child(namespaces));
    return failed;
}
