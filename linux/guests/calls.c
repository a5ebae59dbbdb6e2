// SPDX-License-Identifier: GPL-2.0
/*
 * Ways into the kernel: what programs may rely on of the vdso's __kernel_vsyscall, of calls with six
 * parameters, that start again, that are stepped through, and of breakpoints; each line is one check.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/ucontext.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096 };
#define LENGTH 64 /* of __kernel_vsyscall, at most */

static unsigned long entry;

/* A call by the entry. EAX points to the parameters for which no other register is left until then. */
static long fast(long number, long a, long b, long c, long d, long e, long f)
{
    const long more[] = {number, a, f, (long)entry};
    long result;

    asm volatile("push %%ebx; push %%ebp; push 12(%%eax); mov 4(%%eax), %%ebx; mov 8(%%eax), %%ebp;"
                 "mov (%%eax), %%eax; call *(%%esp); pop %%ecx; pop %%ebp; pop %%ebx"
                 : "=a"(result), "+c"(b)
                 : "0"(more), "d"(c), "S"(d), "D"(e)
                 : "memory");
    return result;
}

static void image(void)
{
    const Elf32_Ehdr *elf = (const void *)getauxval(AT_SYSINFO_EHDR);
    const Elf32_Phdr *header;
    int i, loads = 0, dynamic = 0;

    entry = getauxval(AT_SYSINFO);
    CHECK("the entry is in the image", elf && !memcmp(elf->e_ident, ELFMAG, 4) && elf->e_type == ET_DYN &&
                                           entry - (unsigned long)elf < 16384 &&
                                           (unsigned long)elf + elf->e_entry == entry);
    header = (const void *)((const char *)elf + elf->e_phoff);
    for (i = 0; i < elf->e_phnum; i++) {
        loads += header[i].p_type == PT_LOAD;
        dynamic += header[i].p_type == PT_DYNAMIC;
    }
    CHECK("its program headers", loads == 1 && dynamic == 1);
}

static void parameters(void)
{
    static char page[8192] __attribute__((aligned(4096)));
    const int fd = memfd_create("calls", 0);
    char *mapped;

    CHECK("no parameter", fast(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid());
    memset(page + 4096, 'x', 4096);
    write(fd, page, sizeof(page));
    /* the sixth is the offset in pages */
    mapped = (char *)fast(SYS_mmap2, 0, 4096, PROT_READ, MAP_SHARED, fd, 1);
    CHECK("six parameters", mapped != MAP_FAILED && mapped[5] == 'x');
    CHECK("an error", fast(SYS_close, 99, 0, 0, 0, 0, 0) == -EBADF);
    CHECK("no such call", fast(400 + 3000, 0, 0, 0, 0, 0, 0) == -ENOSYS);
    close(fd);
}

static void strange(void)
{
    long result;

    errno = 0;
    CHECK("a call that nobody has", syscall(-1) == -1 && errno == ENOSYS && syscall(0x12345) == -1 && errno == ENOSYS);
    asm volatile("int $0x80" : "=a"(result) : "0"(0x12345) : "memory");
    CHECK("by int, too", result == -ENOSYS);
    CHECK("nothing to start again", fast(SYS_restart_syscall, 1, 2, 3, 4, 5, 6) == -EINTR);
    CHECK("by the entry", fast(-1, 1, 2, 3, 4, 5, 6) == -ENOSYS && fast(0x4000, 1, 2, 3, 4, 5, 6) == -ENOSYS);
}

/* A page of its own that raises what sysenter does where there is none: it is for others as it was. */
static void own_page(void)
{
    char *image = (char *)getauxval(AT_SYSINFO_EHDR), before[PAGE], *sysenter;
    int status, pages = 1;
    pid_t p;

    memcpy(before, image, PAGE);
    p = fork();
    if (!p) {
        sysenter = memmem((char *)entry, LENGTH, "\x0F\x34", 2);
        /* all of it, or nothing */
        while (pages < 9 && mprotect(image, pages * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC)) pages++;
        if (sysenter && pages < 9) {
            memcpy(sysenter, "\x0F\x0B", 2);
            fast(SYS_getppid, 0, 0, 0, 0, 0, 0);
        }
        _exit(0);
    }
    waitpid(p, &status, 0);
    CHECK("an instruction that is not there", WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
    CHECK("its page is the others' no more", !memcmp(before, image, PAGE));
}

/* A tracer sends the thread elsewhere where it has made a process. */
static void elsewhere(void) { asm volatile("int $0x80" : : "a"(SYS_exit), "b"(5)); }
static void sent_elsewhere(void)
{
    struct user_regs_struct r;
    int status;
    pid_t p = fork();

    if (!p) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        if (!fast(SYS_fork, 0, 0, 0, 0, 0, 0)) _exit(0);
        _exit(6);
    }
    waitpid(p, &status, 0);
    ptrace(PTRACE_SETOPTIONS, p, 0, PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL); /* the new one is not let go */
    ptrace(PTRACE_CONT, p, 0, 0);
    waitpid(p, &status, 0);
    ptrace(PTRACE_GETREGS, p, 0, &r);
    r.eip = (long)elsewhere;
    ptrace(PTRACE_SETREGS, p, 0, &r);
    ptrace(PTRACE_CONT, p, 0, 0);
    waitpid(p, &status, 0);
    CHECK("sent elsewhere by a tracer", WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

/* Where it has made a process, a tracer asks for the end of the call, or for a step. */
extern char behind_fork[];
static void stopped_behind(void)
{
    static const int asked[] = {PTRACE_SYSCALL, PTRACE_SINGLESTEP};
    struct user_regs_struct r;
    int status, i, right = 0;

    for (i = 0; i < 4; i++) {
        const int by_int = i < 2;
        pid_t p = fork();

        if (!p) {
            long child;

            ptrace(PTRACE_TRACEME, 0, 0, 0);
            raise(SIGSTOP);
            if (by_int) asm volatile("int $0x80; behind_fork:" : "=a"(child) : "0"(SYS_fork) : "memory");
            else child = fast(SYS_fork, 0, 0, 0, 0, 0, 0);
            _exit(child ? 5 : 0);
        }
        waitpid(p, &status, 0);
        ptrace(PTRACE_SETOPTIONS, p, 0, PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL);
        ptrace(PTRACE_CONT, p, 0, 0);
        waitpid(p, &status, 0);
        ptrace(asked[i % 2], p, 0, 0);
        waitpid(p, &status, 0);
        ptrace(PTRACE_GETREGS, p, 0, &r);
        right += WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && r.eax > 0 && r.orig_eax == SYS_fork &&
                 (by_int ? r.eip == (long)behind_fork : r.eip - entry < LENGTH);
        ptrace(PTRACE_CONT, p, 0, 0);
        waitpid(p, &status, 0);
        right += WIFEXITED(status) && WEXITSTATUS(status) == 5;
    }
    CHECK("stopped behind a call, at its tracer's late wish", right == 8);
}

static void moved(void)
{
    const unsigned long old = getauxval(AT_SYSINFO_EHDR);
    void *target = mmap(NULL, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int how = MREMAP_MAYMOVE | MREMAP_FIXED;
    int status = 0;
    pid_t p = fork();

    if (!p) {
        long bytes = 4096, to;

        /* the call that moves the image returns to where it is then; how large it is is tried */
        while ((to = fast(SYS_mremap, old, bytes, bytes, how, (long)target, 0)) == -EINVAL && bytes < 16384)
            bytes += 4096;
        entry += (unsigned long)target - old;
        asm volatile("int $0x80" : : "a"(SYS_exit), "b"(to == (long)target && fast(SYS_getppid, 0, 0, 0, 0, 0, 0) > 0));
    }
    waitpid(p, &status, 0);
    CHECK("the entry can be moved, by itself", WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static volatile int alarms;
static void on_alarm(int signal) { alarms++; }

static void restart(void)
{
    const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {0};
    struct sigaction a = {.sa_handler = on_alarm};
    int restarts, pipes[2];
    char byte = 0;

    for (restarts = 0; restarts < 2; restarts++) {
        long result;

        pipe(pipes);
        alarms = 0;
        a.sa_flags = restarts ? SA_RESTART : 0;
        sigaction(SIGALRM, &a, NULL);
        if (!fork()) {
            usleep(300000);
            write(pipes[1], "z", 1);
            _exit(0);
        }
        setitimer(ITIMER_REAL, &often, NULL);
        result = fast(SYS_read, pipes[0], (long)&byte, 1, 0, 0, 0);
        setitimer(ITIMER_REAL, &never, NULL);
        CHECK(restarts ? "a call that starts again" : "a call that is interrupted",
              alarms && (restarts ? result == 1 && byte == 'z' : result == -EINTR));
        wait(NULL);
        close(pipes[0]), close(pipes[1]);
    }
}

static void stepped(void)
{
    struct user_regs_struct r;
    int status, steps = 0, inside = 0;
    pid_t p = fork();

    if (!p) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        _exit(fast(SYS_getppid, 0, 0, 0, 0, 0, 0) == getppid() ? 3 : 4);
    }
    waitpid(p, &status, 0);
    for (; steps < 2000; steps++) {
        ptrace(PTRACE_SINGLESTEP, p, 0, 0);
        waitpid(p, &status, 0);
        if (!WIFSTOPPED(status)) break;
        ptrace(PTRACE_GETREGS, p, 0, &r);
        inside += r.eip - entry < LENGTH;
    }
    CHECK("stepped through", WIFEXITED(status) && WEXITSTATUS(status) == 3 && inside >= 5);
    p = fork();
    if (!p) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        fast(SYS_getppid, 0, 0, 0, 0, 0, 0);
        _exit(0);
    }
    int right = 0;
    for (waitpid(p, &status, 0); WIFSTOPPED(status); waitpid(p, &status, 0)) {
        ptrace(PTRACE_GETREGS, p, 0, &r);
        right += r.orig_eax == SYS_getppid && r.eip - entry < LENGTH;
        ptrace(PTRACE_SYSCALL, p, 0, 0);
    }
    CHECK("traced, in and out", right == 2);
}

__attribute__((noinline)) static void stop_here(void) { __asm__ volatile("nop" : : : "memory"); }

static void breakpoints(void)
{
    static volatile int watched, other, turn;
    struct user_regs_struct r;
    int status, i;
    pid_t p = fork();
    const unsigned long at = offsetof(struct user, u_debugreg);

    if (!p) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        other = 1;
        watched = 5;
        other = 2;
        for (turn = 0; turn < 3; turn++) stop_here();
        _exit(7);
    }
    waitpid(p, &status, 0);
    CHECK("a breakpoint in the kernel is refused", ptrace(PTRACE_POKEUSER, p, at, 0xF0000000) == -1);
    CHECK("a watchpoint is taken",
          !ptrace(PTRACE_POKEUSER, p, at, &watched) && !ptrace(PTRACE_POKEUSER, p, at + 7 * 4, 0xD0001));
    ptrace(PTRACE_CONT, p, 0, 0);
    waitpid(p, &status, 0);
    CHECK("it stops", WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP &&
                          ptrace(PTRACE_PEEKDATA, p, &watched, 0) == 5 && ptrace(PTRACE_PEEKDATA, p, &other, 0) == 1);
    CHECK("its status says which", (ptrace(PTRACE_PEEKUSER, p, at + 6 * 4, 0) & 15) == 1);
    ptrace(PTRACE_POKEUSER, p, at + 7 * 4, 0);
    CHECK("a breakpoint is taken",
          !ptrace(PTRACE_POKEUSER, p, at, stop_here) && !ptrace(PTRACE_POKEUSER, p, at + 7 * 4, 1));
    for (i = 0; i < 2; i++) {
        ptrace(PTRACE_CONT, p, 0, 0);
        waitpid(p, &status, 0);
        ptrace(PTRACE_GETREGS, p, 0, &r);
        CHECK("it stops before the instruction",
              WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && r.eip == (long)stop_here);
        CHECK("once each time", ptrace(PTRACE_PEEKDATA, p, &turn, 0) == i);
    }
    for (i = 0; i < 8; i += 7) ptrace(PTRACE_POKEUSER, p, at + i * 4, 0);
    ptrace(PTRACE_CONT, p, 0, 0);
    waitpid(p, &status, 0);
    CHECK("and goes on without", WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static int told, answers;

/* What programs that make a filtered call themselves, as browsers do, compare before they do so. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    told += info->si_code == 1 /* SYS_SECCOMP */ && info->si_errno == 77 && info->si_syscall == SYS_getppid &&
            registers[REG_EAX] == SYS_getppid && (unsigned long)info->si_call_addr == registers[REG_EIP];
    if (answers) registers[REG_EAX] = 4321;
}

static void trapped(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | 77),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    const pid_t child = fork();
    int status, fine;

    if (!child) {
        sigaction(SIGSYS, &action, NULL);
        fine = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
        fine &= fast(SYS_getppid, 0, 0, 0, 0, 0, 0) == SYS_getppid && told == 1;
        asm volatile("int $0x80" : "=a"(status) : "0"(SYS_getppid) : "memory");
        fine &= status == SYS_getppid && told == 2;
        answers = 1;
        fine &= fast(SYS_getppid, 0, 0, 0, 0, 0, 0) == 4321 && told == 3;
        _exit(!fine);
    }
    waitpid(child, &status, 0);
    CHECK("a call that a filter traps is as it was made, and the handler answers", status == 0);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    image();
    strange();
    moved();
    parameters();
    restart();
    own_page();
    sent_elsewhere();
    stopped_behind();
    stepped();
    breakpoints();
    trapped();
    printf("%d failed\n", failed);
    return failed != 0;
}
