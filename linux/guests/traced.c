// SPDX-License-Identifier: GPL-2.0
/*
 * What a debugger may rely on beside the requests that gdb makes: sets of registers by their types,
 * what call a task is in, calls that the debugger makes in the kernel's stead, where the user area
 * ends, and words that it writes into shared pages; each line is one check.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const unsigned int one = 0x3F800000; /* 1.0f */

/* A child that stops itself, and then loads 1 into the coprocessor and XMM0, makes a call, and ends with its result. */
static pid_t child(void)
{
    pid_t p = fork();
    long result;

    if (p) return waitpid(p, NULL, 0);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    asm volatile("fld1; movss %0, %%xmm0" : : "m"(one));
    syscall(SYS_kill, getpid(), SIGSTOP);
    asm volatile("int $0x80" : "=a"(result) : "0"(SYS_getpid), "b"(11), "c"(12), "d"(13), "S"(14), "D"(15));
    _exit(result == getpid() ? 1 : result & 0x7F);
}

static long set(int request, pid_t p, int type, void *to, size_t *bytes)
{
    struct iovec where = {to, *bytes};
    long result = ptrace(request, p, type, &where);

    *bytes = where.iov_len;
    return result;
}

/* Into memory that ends after some of the registers, and out of it. */
static void cut(pid_t p, struct user_regs_struct *all)
{
    char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct user_regs_struct *some = (void *)(two + 4096 - 20), after;

    munmap(two + 4096, 4096);
    CHECK("not into less memory", ptrace(PTRACE_GETREGS, p, 0, some) == -1 && errno == EFAULT);
    CHECK("what fits is there", !memcmp(some, all, 20));
    CHECK("not out of less memory", ptrace(PTRACE_SETREGS, p, 0, some) == -1 && errno == EFAULT);
    CHECK("not into the kernel's", ptrace(PTRACE_GETREGS, p, 0, (void *)-4096) == -1 && errno == EFAULT);
    CHECK("they are as they were", !ptrace(PTRACE_GETREGS, p, 0, &after) && !memcmp(&after, all, sizeof(after)));
}

static void registers(void)
{
    struct user_regs_struct by_name, by_type;
    struct user_fpxregs_struct fxsr;
    struct user_fpregs_struct fp;
    size_t bytes = sizeof(by_type);
    int status;
    pid_t p = child();

    ptrace(PTRACE_GETREGS, p, 0, &by_name);
    CHECK("general registers by type", !set(PTRACE_GETREGSET, p, NT_PRSTATUS, &by_type, &bytes) &&
                                           bytes == sizeof(by_type) && !memcmp(&by_name, &by_type, bytes));
    cut(p, &by_name);
    bytes = 8;
    CHECK("a part of them", !set(PTRACE_GETREGSET, p, NT_PRSTATUS, &by_type, &bytes) && bytes == 8);
    by_type.ebx ^= 1;
    CHECK("written",
          !set(PTRACE_SETREGSET, p, NT_PRSTATUS, &by_type, &bytes) && ptrace(PTRACE_PEEKUSER, p, 0, 0) == by_type.ebx);
    ptrace(PTRACE_POKEUSER, p, 0, by_name.ebx);
    bytes = sizeof(fp);
    CHECK("the coprocessor's", !set(PTRACE_GETREGSET, p, NT_PRFPREG, &fp, &bytes) && bytes == sizeof(fp) &&
                                   fp.st_space[1] == (long)0x80000000 && (fp.st_space[2] & 0xFFFF) == 0x3FFF);
    bytes = sizeof(fxsr);
    CHECK("those of SSE", !set(PTRACE_GETREGSET, p, NT_PRXFPREG, &fxsr, &bytes) && bytes == sizeof(fxsr) &&
                              fxsr.xmm_space[0] == (long)one);
    errno = 0;
    CHECK("no type that is not there", set(PTRACE_GETREGSET, p, 0x7777, &fp, &bytes) == -1 && errno == EINVAL);
    errno = 0;
    CHECK("nothing behind the user area", ptrace(PTRACE_PEEKUSER, p, sizeof(struct user), 0) == -1 && errno == EIO);
    by_name.xss = 0;
    CHECK("no stack without a segment", ptrace(PTRACE_SETREGS, p, 0, &by_name) == -1 && errno == EIO);
    ptrace(PTRACE_CONT, p, 0, 0);
    CHECK("it goes on", waitpid(p, &status, 0) == p && WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void calls(void)
{
    struct __ptrace_syscall_info info;
    int status, entries = 0, right = 0;
    pid_t p = child();

    ptrace(PTRACE_SETOPTIONS, p, 0, PTRACE_O_TRACESYSGOOD);
    CHECK("in no call", ptrace(PTRACE_GET_SYSCALL_INFO, p, sizeof(info), &info) > 0 && info.op == 0);
    for (ptrace(PTRACE_SYSCALL, p, 0, 0); waitpid(p, &status, 0) == p && WIFSTOPPED(status);
         ptrace(PTRACE_SYSCALL, p, 0, 0)) {
        memset(&info, 0, sizeof(info));
        ptrace(PTRACE_GET_SYSCALL_INFO, p, sizeof(info), &info);
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_getpid && info.entry.args[0] == 11 &&
            info.entry.args[4] == 15)
            entries++;
        else if (info.op == PTRACE_SYSCALL_INFO_EXIT && info.exit.rval == p && !info.exit.is_error && entries == 1)
            right++;
    }
    CHECK("which call, and what came of it", entries == 1 && right >= 1);
}

static void instead(void)
{
    struct user_regs_struct r;
    int status;
    pid_t p = child();

    CHECK("calls are the debugger's", !ptrace(PTRACE_SYSEMU, p, 0, 0) && waitpid(p, &status, 0) == p &&
                                          WIFSTOPPED(status) && !ptrace(PTRACE_GETREGS, p, 0, &r) &&
                                          r.orig_eax == SYS_getpid && r.ebx == 11);
    r.eax = 42;
    ptrace(PTRACE_SETREGS, p, 0, &r);
    ptrace(PTRACE_CONT, p, 0, 0);
    CHECK("with its result", waitpid(p, &status, 0) == p && WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void told_by_proc(void)
{
    char name[64], line[256] = "";
    int ends[2];
    unsigned long number = 0, file = 99;
    FILE *from;
    pid_t p;

    pipe(ends);
    p = fork();
    if (!p) _exit(read(ends[0], line, 1) == 1);
    snprintf(name, sizeof(name), "/proc/%d/syscall", p);
    while (number != SYS_read) {
        usleep(1000);
        from = fopen(name, "r");
        if (!from || !fgets(line, sizeof(line), from)) break;
        sscanf(line, "%lu 0x%lx", &number, &file);
        fclose(from);
    }
    CHECK("/proc tells the call of one that waits", number == SYS_read && file == (unsigned long)ends[0]);
    kill(p, SIGKILL);
    waitpid(p, NULL, 0);
}

/* Into a page that the child has read: from then on it has one of its own. */
static void poked(void)
{
    volatile int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status, before;
    pid_t p;

    *word = 1;
    p = fork();
    if (!p) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        before = *word;
        kill(getpid(), SIGSTOP);
        _exit(before == 1 && *word == 2 ? 3 : 4);
    }
    waitpid(p, NULL, 0);
    ptrace(PTRACE_POKEDATA, p, (void *)word, 2);
    ptrace(PTRACE_CONT, p, 0, 0);
    CHECK("it has what was written", waitpid(p, &status, 0) == p && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK("nobody else has", *word == 1);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    registers();
    calls();
    instead();
    told_by_proc();
    poked();
    printf("%d failed\n", failed);
    return failed != 0;
}
