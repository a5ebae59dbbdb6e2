// SPDX-License-Identifier: GPL-2.0
/*
 * How handlers of signals begin, whatever they interrupt: their flags, their frame, and an alternate
 * stack that is too small; each line is one check.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#define DF 0x400
#define TF 0x100
#define PAGE 4096

static volatile unsigned long inside, before, traps, frame_flags, has_link;

static unsigned long flags(void)
{
    unsigned long now;

    asm volatile("pushf; pop %0" : "=r"(now));
    return now;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    ucontext_t *u = context;

    (void)info, (void)signal;
    inside = flags();
    asm volatile("cld");
    before = u->uc_mcontext.gregs[REG_EFL];
    frame_flags = u->uc_flags, has_link = (unsigned long)u->uc_link;
    traps++;
}

static void on_signal_old(int signal)
{
    (void)signal;
    inside = flags();
    asm volatile("cld");
}

static void take(int signal, int how)
{
    struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | how};

    sigaction(signal, &a, NULL);
}

static void direction(void)
{
    unsigned long after;

    /* what is below the stack pointer is not 0 then */
    memset(__builtin_alloca(PAGE), 0xFF, PAGE);
    take(SIGUSR1, 0);
    asm volatile("std; int $0x80; pushf; pop %0; cld" : "=r"(after) : "a"(37), "b"(getpid()), "c"(SIGUSR1) : "memory");
    CHECK("a handler's strings go upwards", !(inside & DF) && before & DF);
    CHECK("those that it has interrupted go on downwards", after & DF);
    CHECK("neither flags nor a link in its context", !frame_flags && !has_link);
    signal(SIGUSR2, on_signal_old);
    asm volatile("std; int $0x80; cld" : : "a"(37), "b"(getpid()), "c"(SIGUSR2) : "memory");
    CHECK("upwards in one of the older kind, too", !(inside & DF));
}

static void trap_flag(void)
{
    take(SIGTRAP, 0);
    traps = 0;
    asm volatile("pushf; orl %0, (%%esp); popf; nop; nop; nop; nop; pushf; andl %1, (%%esp); popf; nop; nop"
                 :
                 : "i"(TF), "i"(~TF)
                 : "memory");
    /* one for each instruction that has begun with the flag: four times nothing, and the three that clear it */
    CHECK("a program steps through itself", traps == 7);
    CHECK("and not through the handler", !(inside & TF));
}

static volatile int trap_number, fault, fault_code;
static sigjmp_buf back;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    fault = signal, fault_code = info->si_code;
    trap_number = ((ucontext_t *)context)->uc_mcontext.gregs[REG_TRAPNO];
    siglongjmp(back, 1);
}

static void without_stack(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_SS] = 0;
}

static void without_code(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_CS] = 0x47;
}

static void without_coprocessor(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    ((ucontext_t *)context)->uc_mcontext.fpregs = NULL;
}

/* Raises a signal whose handler is `handler`; what comes of its frame's end. */
static int returned(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

    trap_number = 0;
    sigaction(SIGUSR1, &a, NULL);
    if (!sigsetjmp(back, 1)) raise(SIGUSR1);
    return trap_number;
}

static void changed_frames(void)
{
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    unsigned short control = 0x27F;

    sigaction(SIGILL, &a, NULL);
    sigaction(SIGSEGV, &a, NULL);
    CHECK("a frame without a stack's segment leads to a fault",
          returned(without_stack) == 32 && fault == SIGILL && fault_code == ILL_BADSTK);
    CHECK("so does one with another's code", returned(without_code) == 32 && fault == SIGILL);
    asm volatile("fldcw %0" : : "m"(control));
    CHECK("one without the coprocessor's registers to none", returned(without_coprocessor) == 0);
    asm volatile("fnstcw %0" : "=m"(control));
    CHECK("but to those of a beginning", control == 0x37F);
    signal(SIGILL, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
}

static void own_time(void)
{
    const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    volatile unsigned long spins = 0;
    struct rusage used;

    take(SIGVTALRM, 0);
    traps = 0;
    setitimer(ITIMER_VIRTUAL, &often, NULL);
    while (traps < 3 && spins < 1000000000) spins++;
    setitimer(ITIMER_VIRTUAL, &never, NULL);
    getrusage(RUSAGE_SELF, &used);
    CHECK("a timer of the program's own time runs", traps == 3);
    CHECK("which is counted as such", used.ru_utime.tv_sec || used.ru_utime.tv_usec >= 50000);
}

static void deeper(int signal, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    raise(signal); /* of the stack it takes less than a frame does */
}

/* What ends a program whose handlers call themselves on a stack of two pages, with a page below it. */
static int exhausted(char *low, char *stack)
{
    struct sigaction a = {.sa_sigaction = deeper, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    const stack_t s = {.ss_sp = stack, .ss_size = 2 * PAGE};
    const struct rlimit no_core = {0, 0};
    int status, i;
    pid_t p;

    memset(low, 0x55, PAGE);
    p = fork();
    if (!p) {
        setrlimit(RLIMIT_CORE, &no_core);
        sigaltstack(&s, NULL);
        sigaction(SIGUSR1, &a, NULL);
        raise(SIGUSR1);
        _exit(0);
    }
    waitpid(p, &status, 0);
    for (i = 0; i < PAGE; i++)
        if (low[i] != 0x55) return -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(void)
{
    char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    setvbuf(stdout, NULL, _IONBF, 0);
    direction();
    trap_flag();
    changed_frames();
    own_time();
    CHECK("no frame is written below the alternate stack", exhausted(memory, memory + PAGE) == SIGSEGV);
    printf("%d failed\n", failed);
    return failed != 0;
}
