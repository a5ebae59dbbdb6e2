// SPDX-License-Identifier: GPL-2.0
/*
 * `fuzz SEED ROUNDS`: bad pointers and random arguments for every system call, random frames for sigreturn and random
 * registers for PTRACE_SETREGS. First each call gets each of the pointers in all its arguments, then each of ROUNDS
 * workers makes CALLS random calls. Workers are in namespaces of their own, without the capabilities to stop the
 * machine, set its clock, or reach others; they may die of what they do. At the end this program says whether the
 * system still works.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 460, CALLS = 100, PAGE = 4096, USER = 7, LIMIT_MS = 500, TICK_US = 3000 };
enum { SIGRETURN = 119, RT_SIGRETURN = 173, VFORK = 190, CLONE3 = 435 };

/* what workers tell: how far the first part is, and how many calls there were in all */
static volatile struct {
    int next;
    unsigned calls, done;
} *shared;
static uint32_t state;
static char *edge, *fixed; /* the end of a page behind which there is none; a page that cannot be written */
static uint32_t buffer[2048];

static uint32_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

static const char *const strings[] = {"a", "/tmp/fuzz/a", "/tmp/fuzz/none/b", "", "/proc/self/maps", "/proc/self/mem"};

/* Around the ends of programs' addresses, where the microkernel has something of its own, and half a page. */
static long pointer(int kind)
{
    const long places[] = {0,          1,          -1,         0x1000,     0x4000,         0x7FF0,         0x8000,
                           0xFFFC,     0x10000000, 0x7FFFFFFF, 0x9EFFFFFE, 0xBEFFFFFE,     0xBFCFFFFC,     0xBFE00000,
                           0xC0000000, 0xFFFFF000, 0x400000,   (long)edge, (long)edge - 1, (long)edge - 4, (long)fixed};

    return places[(unsigned)kind % (sizeof(places) / sizeof(*places))];
}
enum { POINTERS = 21 };

static long argument(void)
{
    switch (draw() % 8) {
    case 0: return draw() % 64; /* files, and numbers of all sorts */
    case 1: return draw();
    case 2: return 1 << draw() % 32;
    case 3: return -(long)(draw() % 4096);
    case 4: return pointer(draw());
    case 5: return (long)strings[draw() % (sizeof(strings) / sizeof(*strings))];
    default: return (long)((char *)buffer + draw() % 4096);
    }
}

/* A call that returns twice ends the new process or thread at once, which may have no stack. */
static long call(long number, const long *a)
{
    const long given[] = {number, a[0], a[5]};
    const int twice = number == SYS_fork || number == SYS_clone || number == VFORK || number == CLONE3;
    long result, b = a[1];

#define ENTER(after)                                                                                                   \
    asm volatile(                                                                                                      \
        "push %%ebx; push %%ebp; mov 4(%%eax), %%ebx; mov 8(%%eax), %%ebp; mov (%%eax), %%eax; int $0x80;" after       \
        "pop %%ebp; pop %%ebx"                                                                                         \
        : "=a"(result), "+c"(b)                                                                                        \
        : "0"(given), "d"(a[2]), "S"(a[3]), "D"(a[4])                                                                  \
        : "memory")
    if (twice) ENTER("test %%eax, %%eax; jnz 1f; mov $1, %%eax; int $0x80; 1:");
    else ENTER("");
    return result;
}

static void fill(void)
{
    for (size_t i = 0; i < sizeof(buffer) / sizeof(*buffer); i++) buffer[i] = draw() % 3 ? argument() : 0;
}

/* A return from a signal that never came: registers, segments and the coprocessor's as a random frame says. */
static void returned(void)
{
    const uint32_t *frame = buffer + draw() % 64;

    fill();
    if (draw() % 2) /* an IP and a stack that there are: the rest counts */
        for (int i = 0; i < 400; i++)
            if (draw() % 8 == 0) buffer[i] = draw() % 2 ? (uint32_t)&returned : (uint32_t)(buffer + 1000);
    asm volatile("mov %0, %%esp; int $0x80" : : "r"(frame), "a"(draw() % 2 ? SIGRETURN : RT_SIGRETURN) : "memory");
}

/* A call by sysenter from outside of the vdso, with a stack that may be anywhere. */
static void entered(void)
{
    const long stack = draw() % 2 ? argument() : (long)(buffer + draw() % 1000);

    fill();
    asm volatile("mov %0, %%esp; mov %0, %%ebp; sysenter"
                 :
                 : "r"(stack), "a"(draw() % 4 ? draw() % NUMBERS : draw()), "c"(draw() % 2 ? stack : argument()),
                   "d"(argument()), "S"(argument()), "D"(argument())
                 : "memory");
}

static void traced(void)
{
    static const int kinds[] = {PTRACE_SETREGS, PTRACE_SETFPREGS, PTRACE_SETFPXREGS};
    static const int ways[] = {PTRACE_CONT, PTRACE_SINGLESTEP, PTRACE_SYSCALL, 31 /* SYSEMU */};
    struct user_regs_struct r;
    int status, i;
    const pid_t p = syscall(SYS_fork);

    if (!p) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        for (;;) getppid();
    }
    if (p < 0 || waitpid(p, &status, 0) != p) return;
    for (i = 0; i < 20; i++) {
        fill();
        if (draw() % 2 && !ptrace(PTRACE_GETREGS, p, 0, &r)) { /* one register alone */
            ((long *)&r)[draw() % (sizeof(r) / 4)] = argument();
            memcpy(buffer, &r, sizeof(r));
        }
        ptrace(kinds[draw() % 3], p, draw() % 4 ? 0 : argument(), buffer);
        ptrace(PTRACE_POKEUSER, p, draw() % 8 ? draw() % 0x120 & ~3 : argument(), argument());
        ptrace(draw() % 8 ? ways[draw() % 4] : (int)draw() % 64, p, 0, draw() % 4 ? 0 : draw() % 70);
        usleep(1000);
        if (waitpid(p, &status, WNOHANG) == p && !WIFSTOPPED(status)) return;
        kill(p, SIGSTOP);
    }
    kill(p, SIGKILL);
    waitpid(p, &status, 0);
}

static void on_tick(int signal) {}

/* Interrupts calls that wait; the process that waits for the worker ends it if that does not help. */
static void tick(void)
{
    const struct itimerval often = {{0, TICK_US}, {0, TICK_US}};
    const struct sigaction a = {.sa_handler = on_tick};
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static int is_left_out(long number)
{
    /* syslog would take the evidence, and reboot needs no pointer to do what it is for */
    return number == SYS_syslog || number == SYS_reboot;
}

static void one(long number, const long *a)
{
    if (is_left_out(number)) return;
    shared->calls++;
    call(number, a);
    tick();
}

/* Files of all kinds from 3 on, of which none is the console. */
static void open_files(void)
{
    int two[2], i;

    for (i = 0; i < 3; i++) dup2(open("/dev/null", O_RDWR), i);
    pipe(two);
    socketpair(AF_UNIX, SOCK_STREAM, 0, two);
    socket(AF_INET, SOCK_STREAM, 0);
    memfd_create("fuzz", 0);
    eventfd(1, 0);
    epoll_create1(0);
    timerfd_create(CLOCK_MONOTONIC, 0);
    posix_openpt(O_RDWR);
    open("/tmp/fuzz/a", O_RDWR | O_CREAT, 0666);
    open("/tmp/fuzz", O_RDONLY | O_DIRECTORY);
    open("/proc/self/maps", O_RDONLY);
    open("/dev/zero", O_RDWR);
}

static void limit(int what, rlim_t most)
{
    const struct rlimit both = {most, most};
    setrlimit(what, &both);
}

static void confine(int privileged)
{
    static const int dropped[] = {CAP_KILL,     CAP_SYS_RAWIO, CAP_SYS_PTRACE,   CAP_SYS_BOOT,
                                  CAP_SYS_NICE, CAP_SYS_TIME,  CAP_SYS_RESOURCE, CAP_SYSLOG};
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];

    limit(RLIMIT_AS, 64 << 20), limit(RLIMIT_FSIZE, 1 << 20), limit(RLIMIT_CORE, 0), limit(RLIMIT_NPROC, 64);
    syscall(SYS_capget, &head, data);
    for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++) {
        data[dropped[i] / 32].permitted &= ~(1u << dropped[i] % 32);
        prctl(PR_CAPBSET_DROP, dropped[i]);
    }
    for (int i = 0; i < 2; i++) data[i].effective = data[i].permitted;
    prctl(PR_SET_KEEPCAPS, privileged);
    setresuid(USER, USER, USER);
    if (privileged) syscall(SYS_capset, &head, data);
}

static void work(uint32_t seed, int systematic)
{
    long a[6];
    int i, j;

    state = seed * 2654435761u | 1;
    open_files();
    confine(seed % 2);
    tick();
    while (systematic && shared->next < NUMBERS * POINTERS) {
        const int at = shared->next++;

        for (j = 0; j < 6; j++) a[j] = pointer(at % POINTERS);
        one(at / POINTERS, a);
    }
    for (i = 0; !systematic && i < CALLS; i++) {
        fill();
        for (j = 0; j < 6; j++) a[j] = argument();
        one(draw() % 16 ? draw() % NUMBERS : argument(), a);
    }
    if (!systematic && draw() % 4 == 0) traced();
    if (!systematic && draw() % 4 == 0) draw() % 2 ? returned() : entered();
    syscall(SYS_exit_group, 0);
}

/* The first process of the namespaces: starts one worker after the other and ends those that hang. */
static void guard(uint32_t seed, int rounds)
{
    int n = 0, waited, status;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (shared->next < NUMBERS * POINTERS || n < rounds) {
        const int systematic = shared->next < NUMBERS * POINTERS;
        const pid_t p = fork();

        if (!p) work(seed + shared->done, systematic);
        n += !systematic;
        unsigned calls = shared->calls;
        for (waited = 0; p > 0 && waitpid(p, &status, WNOHANG | __WALL) == 0; waited += 2) {
            if (shared->calls != calls) calls = shared->calls, waited = 0;
            if (waited > LIMIT_MS) kill(p, SIGKILL);
            usleep(2000);
        }
        kill(-1, SIGKILL); /* what it has made and left */
        while (waitpid(-1, &status, WNOHANG | __WALL) > 0) {}
        shared->done++;
    }
    _exit(0);
}

/* Processes, memory, files, pipes and time are as ever. */
static int works(void)
{
    static char text[100000];
    int two[2], status = 0, sum = 0, i;
    FILE *f = fopen("/tmp/fuzz-after", "w+");

    if (!f || pipe(two)) return 0;
    for (i = 0; i < 20; i++)
        if (!fork()) {
            char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memset(p, i, 1 << 20);
            _exit(write(two[1], p + 5000, 1) != 1);
        }
    for (i = 0; i < 20; i++) {
        wait(&status);
        if (status || read(two[0], text, 1) != 1) return 0;
        sum += text[0];
    }
    memset(text, 'x', sizeof(text));
    fwrite(text, sizeof(text), 1, f);
    rewind(f);
    return sum == 190 && fread(text, sizeof(text), 1, f) == 1 && text[99999] == 'x' && usleep(1000) == 0;
}

int main(int count, char **words)
{
    const uint32_t seed = count > 1 ? strtoul(words[1], NULL, 0) : time(NULL);
    const int rounds = count > 2 ? atoi(words[2]) : 100;
    int status;
    char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    setvbuf(stdout, NULL, _IONBF, 0);
    printf("fuzz: seed %u, %d rounds\n", seed, rounds);
    shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    munmap(two + PAGE, PAGE);
    edge = two + PAGE - 2;
    fixed = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mkdir("/tmp/fuzz", 0777);
    chmod("/tmp/fuzz", 0777);
    if (!fork()) {
        if (unshare(CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNS)) _exit(1);
        if (!fork()) guard(seed, rounds);
        wait(&status);
        _exit(!WIFEXITED(status) || WEXITSTATUS(status));
    }
    wait(&status);
    printf("fuzz: %u calls by %u workers, %s\n", shared->calls, shared->done,
           shared->next < NUMBERS * POINTERS ? "not all numbers" : "each number");
    if (status || !works()) return printf("FAIL\n"), 1;
    printf("fuzz: all works\n");
    return 0;
}
