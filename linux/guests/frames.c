// SPDX-License-Identifier: GPL-2.0
/*
 * What programs may rely on of signals, the coprocessor, fork and threads; each line is one check.
 */
#define _GNU_SOURCE
#include <fpu_control.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static int failed;
static volatile int expected;
#define CHECK(what, good)                                                                                              \
    do {                                                                                                               \
        int ok_ = (good);                                                                                              \
        printf("%s: %s\n", ok_ ? "ok" : "FAIL", what);                                                                 \
        failed += !ok_;                                                                                                \
        expected = 0;                                                                                                  \
    } while (0)

static volatile int caught, code;
static void *volatile fault_at;
static volatile long frame_ip, frame_trap, frame_error, frame_cr2;
static sigjmp_buf back;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    ucontext_t *u = context;

    caught = signal;
    code = info->si_code;
    fault_at = info->si_addr;
    frame_ip = u->uc_mcontext.gregs[REG_EIP];
    frame_trap = u->uc_mcontext.gregs[REG_TRAPNO];
    frame_error = u->uc_mcontext.gregs[REG_ERR];
    frame_cr2 = u->uc_mcontext.cr2;
    if (!expected) {
        printf("FAIL: signal %d (code %d) at %lx, address %p\n", signal, code, frame_ip, fault_at);
        _exit(1);
    }
    expected = 0;
    siglongjmp(back, 1);
}

static void take(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

    sigaction(signal, &a, NULL);
}

/* By its parameter: the frame of the older kind, with the mask's upper half behind the coprocessor's legacy state. */
static void on_old(int signal)
{
    const struct sigcontext *sc = (void *)(&signal + 1);
    unsigned long lower, upper;

    asm volatile("" : "+r"(sc) : : "memory"); /* the compiler knows of nothing behind a parameter */
    lower = sc->oldmask, upper = *(unsigned long *)((char *)(sc + 1) + 624);
    caught = lower == 1u << (SIGUSR2 - 1) && upper == 1u << (40 - 33) ? signal : -1;
}

static void old_frame(void)
{
    struct sigaction a = {.sa_handler = on_old};
    sigset_t both, before;

    sigaction(SIGUSR1, &a, NULL);
    sigemptyset(&both), sigaddset(&both, SIGUSR2), sigaddset(&both, 40);
    sigprocmask(SIG_SETMASK, &both, &before);
    raise(SIGUSR1);
    sigprocmask(SIG_SETMASK, NULL, &both);
    CHECK("the mask in the older frame, and after it",
          caught == SIGUSR1 && sigismember(&both, SIGUSR2) && sigismember(&both, 40) && !sigismember(&both, SIGUSR1));
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void faults(void)
{
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) *(volatile int *)16 = 1;
    CHECK("write to nothing", caught == SIGSEGV && code == SEGV_MAPERR && fault_at == (void *)16 && frame_trap == 14 &&
                                  frame_error == 6 && frame_cr2 == 16);
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) page[5] = 1;
    CHECK("write to a page for reading", caught == SIGSEGV && code == SEGV_ACCERR && fault_at == page + 5);
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) asm volatile("divl %0" : : "r"(0), "a"(1), "d"(0));
    CHECK("division by 0", caught == SIGFPE && code == FPE_INTDIV && frame_trap == 0);
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) asm volatile("ud2");
    CHECK("no instruction", caught == SIGILL && frame_trap == 6);
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) asm volatile("int3; nop; nop");
    CHECK("breakpoint", caught == SIGTRAP && frame_trap == 3);
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) asm volatile("hlt");
    CHECK("privileged instruction", caught == SIGSEGV && frame_trap == 13);
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) ((void (*)(void))0x30)();
    CHECK("jump to nothing", caught == SIGSEGV && frame_ip == 0x30);
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) *(volatile int *)0xFFFF0000u = 1;
    CHECK("write to the kernel", caught == SIGSEGV);
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) (void)*(volatile int *)0xC0001000u;
    CHECK("read from the kernel", caught == SIGSEGV);
}

/* What a division in the coprocessor raises, of which `unmasked` is not masked. */
static int divide(double x, double y, int unmasked)
{
    fpu_control_t usual = 0x37F, cw = usual & ~unmasked;

    caught = 0, code = 0, expected = 1;
    if (!sigsetjmp(back, 1)) {
        _FPU_SETCW(cw);
        asm volatile("fldl %1; fldl %0; fdivp; fstpl %0; fwait" : "+m"(x) : "m"(y));
    }
    expected = 0;
    asm volatile("fninit");
    _FPU_SETCW(usual);
    return caught == SIGFPE ? code : -1;
}

static int divide_sse(float x, float y, unsigned int unmasked)
{
    unsigned int usual = 0x1F80, mxcsr = usual & ~(unmasked << 7);

    caught = 0, code = 0, expected = 1;
    if (!sigsetjmp(back, 1))
        asm volatile("ldmxcsr %2; movss %0, %%xmm0; divss %1, %%xmm0; movss %%xmm0, %0"
                     : "+m"(x)
                     : "m"(y), "m"(mxcsr)
                     : "xmm0");
    expected = 0;
    asm volatile("ldmxcsr %0" : : "m"(usual));
    return caught == SIGFPE ? code : -1;
}

static void floating_faults(void)
{
    const double tiny = 2.3e-308, huge = 1.7e308;

    CHECK("0 / 0", divide(0, 0, 0x01) == FPE_FLTINV);
    CHECK("1 / 0", divide(1, 0, 0x04) == FPE_FLTDIV);
    CHECK("overflow", divide(huge, tiny, 0x08) == FPE_FLTOVF);
    CHECK("underflow", divide(tiny, huge, 0x10) == FPE_FLTUND);
    CHECK("inexact", divide(1, 3, 0x20) == FPE_FLTRES);
}

/* Where the processor raises these: emulators that translate do not. */
static void sse_faults(void)
{
    CHECK("0 / 0 by SSE", divide_sse(0, 0, 0x01) == FPE_FLTINV);
    CHECK("1 / 0 by SSE", divide_sse(1, 0, 0x04) == FPE_FLTDIV);
}

static volatile int alarms;
static int has_sse;
static void on_alarm(int signal, siginfo_t *info, void *context)
{
    alarms++;
    /* overwrites all of the registers */
    asm volatile("fninit; fld1; fldpi; fldl2e");
    if (has_sse) asm volatile("xorps %%xmm0,%%xmm0; xorps %%xmm1,%%xmm1; cmpeqps %%xmm0, %%xmm0" : : : "xmm0");
    errno = 99;
}

static void alarm_every(int us)
{
    struct itimerval t = {{0, us}, {0, us}};

    setitimer(ITIMER_REAL, &t, NULL);
}

static void coprocessor(void)
{
    int wrong = 0;

    alarms = 0;
    take(SIGALRM, on_alarm, SA_RESTART);
    alarm_every(10000);
    while (alarms < 30) {
        volatile double x = 1.0;
        static volatile double first;

        for (int i = 0; i < 10000; i++) x = x * 1.0000001 + 1e-9;
        if (!first) first = x;
        wrong += x != first;
    }
    CHECK("x87 values over signals", !wrong);
    has_sse = __builtin_cpu_supports("sse");
    if (!has_sse) return alarm_every(0);
    alarms = 0;
    uint32_t in[4] = {1, 2, 3, 0xDEADBEEF}, out[4];
    wrong = 0;
    while (alarms < 30) {
        asm volatile("movups %1, %%xmm0; mov $100000, %%ecx; 1: dec %%ecx; jnz 1b; movups %%xmm0, %0"
                     : "=m"(out)
                     : "m"(in)
                     : "ecx", "xmm0", "memory");
        wrong += memcmp(in, out, sizeof(in)) != 0;
    }
    CHECK("SSE values over signals", !wrong);
    alarm_every(0);

    fpu_control_t cw = 0x27F, seen;
    _FPU_SETCW(cw);
    int status = 0;
    pid_t p = fork();
    if (!p) {
        _FPU_GETCW(seen);
        _exit(seen == cw ? 5 : 6);
    }
    waitpid(p, &status, 0);
    CHECK("control word over fork", WEXITSTATUS(status) == 5);
    cw = 0x37F;
    _FPU_SETCW(cw);
}

static __thread int own = 3;
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static void *thread(void *argument)
{
    long wrong = own != 3;

    own = (int)(long)argument;
    for (int i = 0; i < 200; i++) {
        double x = own;

        pthread_mutex_lock(&lock);
        shared++;
        pthread_cond_broadcast(&turn);
        pthread_mutex_unlock(&lock);
        for (int n = 0; n < 2000; n++) x += 0.5;
        wrong += own != (int)(long)argument || x != own + 1000.0;
        if (i % 16 == 0) sched_yield();
    }
    return (void *)wrong;
}

static void threads(void)
{
    pthread_t t[40];
    long wrong = 0;

    for (long i = 0; i < 40; i++) wrong += pthread_create(&t[i], NULL, thread, (void *)(i + 10)) != 0;
    pthread_mutex_lock(&lock);
    while (shared < 40 * 200) pthread_cond_wait(&turn, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 40; i++) {
        void *result;

        pthread_join(t[i], &result);
        wrong += (long)result;
    }
    CHECK("threads, their storage, futexes and doubles", !wrong && own == 3);
}

static void memory(void)
{
    int *private = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int *common = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    *private = *common = 1;
    pid_t p = fork();
    if (!p) {
        *private = *common = 2;
        _exit(*private + *common);
    }
    waitpid(p, &status, 0);
    CHECK("copy on write, and shared pages", WEXITSTATUS(status) == 4 && *private == 1 && *common == 2);
    p = vfork();
    if (!p) {
        *private = 7;
        _exit(3);
    }
    waitpid(p, &status, 0);
    CHECK("vfork shares memory", *private == 7 && WEXITSTATUS(status) == 3);
    mprotect(private, 4096, PROT_READ);
    caught = 0, expected = 1;
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) *private = 8;
    CHECK("mprotect takes the right to write", caught == SIGSEGV && *private == 7);
    int ends[2];
    pipe(ends);
    int reads = write(ends[1], private, 4) == 4, writes = read(ends[0], private, 4) >= 0 || errno != EFAULT;
    CHECK("the kernel only reads there, too", reads && !writes);
    mprotect(private, 4096, PROT_NONE);
    CHECK("nor does it read what the program may not", write(ends[1], private, 4) < 0 && errno == EFAULT);
    close(ends[0]), close(ends[1]);
    mprotect(private, 4096, PROT_READ | PROT_WRITE);
    *private = 8;
    char *moved = mremap(private, 8192, 1 << 20, MREMAP_MAYMOVE);
    CHECK("mremap", moved != MAP_FAILED && *(int *)moved == 8);
    munmap(moved, 1 << 20);
    caught = 0, expected = 1;
    caught = 0, expected = 1;
    if (!sigsetjmp(back, 1)) *(volatile int *)moved = 8;
    CHECK("munmap takes the pages", caught == SIGSEGV);
    /* stack growth by 4 MB */
    volatile char *big = __builtin_alloca(4 << 20);
    big[0] = 1;
    CHECK("the stack grows", big[0] == 1);
}

static char other_stack[65536];
static volatile char *handler_stack;
static void on_usr(int signal, siginfo_t *info, void *context)
{
    char here;

    handler_stack = &here;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_ESI] = 0x1234;
}

static void frames(void)
{
    stack_t s = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
    int si = 0;

    sigaltstack(&s, NULL);
    take(SIGUSR1, on_usr, SA_ONSTACK);
    asm volatile("int $0x80" : "=S"(si) : "a"(SYS_kill), "b"(getpid()), "c"(SIGUSR1), "S"(1) : "memory");
    CHECK("handlers' stack", handler_stack >= other_stack && handler_stack < other_stack + sizeof(other_stack));
    CHECK("registers of the frame come back", si == 0x1234);
}

static void traced(void)
{
    struct user_regs_struct r;
    struct user_fpregs_struct f;
    struct user_fpxregs_struct fx;
    int status, steps = 0;
    pid_t p = fork();

    if (!p) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        double pi;
        asm volatile("fldpi; mov %1, %%ebx; int3; nop; nop; fstpl %0" : "=m"(pi) : "i"(0x4711) : "ebx");
        _exit(pi > 3.1 && pi < 3.2 ? 11 : 12);
    }
    waitpid(p, &status, 0);
    ptrace(PTRACE_GETREGS, p, 0, &r);
    CHECK("registers of a stopped child", WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && r.ebx == 0x4711);
    memset(&f, 0, sizeof(f));
    memset(&fx, 0, sizeof(fx));
    CHECK("its coprocessor", !ptrace(PTRACE_GETFPREGS, p, 0, &f) && !ptrace(PTRACE_GETFPXREGS, p, 0, &fx) &&
                                 (f.cwd & 0xFFFF) == 0x37F && fx.cwd == 0x37F &&
                                 ((unsigned short *)f.st_space)[4] == 0x4000 &&
                                 ((unsigned short *)fx.st_space)[4] == 0x4000);
    long ip = r.eip;
    for (; steps < 2; steps++) {
        ptrace(PTRACE_SINGLESTEP, p, 0, 0);
        waitpid(p, &status, 0);
    }
    ptrace(PTRACE_GETREGS, p, 0, &r);
    CHECK("two steps", r.eip == ip + 2 && !(r.eflags & 0x100));
    long word = ptrace(PTRACE_PEEKTEXT, p, ip, 0);
    CHECK("its memory", (word & 0xFFFF) == 0x9090 && !ptrace(PTRACE_POKETEXT, p, ip, word));
    ptrace(PTRACE_CONT, p, 0, 0);
    waitpid(p, &status, 0);
    CHECK("it goes on", WIFEXITED(status) && WEXITSTATUS(status) == 11);
    p = fork();
    if (!p) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        getppid();
        _exit(0);
    }
    waitpid(p, &status, 0);
    int calls = 0, right = 0;
    for (;;) {
        ptrace(PTRACE_SYSCALL, p, 0, 0);
        waitpid(p, &status, 0);
        if (!WIFSTOPPED(status)) break;
        ptrace(PTRACE_GETREGS, p, 0, &r);
        calls++;
        right += r.orig_eax == SYS_getppid;
    }
    CHECK("system calls of a traced child", calls >= 3 && right == 2);
    p = fork();
    if (!p)
        for (;;);
    usleep(30000);
    ptrace(PTRACE_ATTACH, p, 0, 0);
    waitpid(p, &status, 0);
    CHECK("attach to a child that runs", WIFSTOPPED(status) && !ptrace(PTRACE_GETREGS, p, 0, &r) && r.eip);
    ptrace(PTRACE_DETACH, p, 0, 0);
    kill(p, SIGKILL);
    waitpid(p, &status, 0);
    CHECK("killed in a loop", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void clocks(void)
{
    struct timespec a, b, ms = {0, 1000000};
    long worst = 0;

    for (int i = 0; i < 20; i++) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        nanosleep(&ms, NULL);
        clock_gettime(CLOCK_MONOTONIC, &b);
        long us = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
        if (us > worst) worst = us;
        if (us < 1000) worst = 1 << 30;
    }
    printf("longest of twenty sleeps of 1 ms: %ld us\n", worst);
    CHECK("sleeps are as long as they should be", worst < 100000);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
        {"faults", faults},           {"floating", floating_faults},
        {"coprocessor", coprocessor}, {"threads", threads},
        {"memory", memory},           {"frames", frames},
        {"traced", traced},           {"clocks", clocks},
        {"older frame", old_frame},
    };

    static const int signals[] = {SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGBUS};

    for (int i = 0; i < sizeof(signals) / sizeof(*signals); i++) take(signals[i], on_fault, 0);
    if (argc == 2 && !strcmp(argv[1], "sse")) sse_faults();
    for (int i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (argc < 2 || !strcmp(argv[1], all[i].name)) all[i].run();
    printf("%d failed\n", failed);
    return failed != 0;
}
