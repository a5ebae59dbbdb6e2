// SPDX-License-Identifier: GPL-2.0
/*
 * Every call of Linux with four sets of arguments, each in a process of its own: what comes back, an error by its name,
 * one line each. A call that waits is ended, and says so.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 470, SETS = 4, PARAMETERS = 6, PAGE = 4096, ANSWERS = 9, PATIENCE_MS = 1000 };

/* What ends the machine or hangs up its terminal, makes processes that nobody waits for, or wants a signal's frame. */
static const int left_out[] = {
    SYS_restart_syscall, SYS_fork,         SYS_vfork, SYS_clone,  SYS_clone3,
    SYS_sigreturn,       SYS_rt_sigreturn, SYS_sync,  SYS_reboot, SYS_vhangup,
};

static char memory[2 * PAGE] __attribute__((aligned(PAGE))); /* at the same address in every layout */

static int is_left_out(int number)
{
    for (unsigned i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (left_out[i] == number) return 1;
    return 0;
}

static long call(int number, const long *a)
{
    const long more[] = {number, a[0], a[5]};
    long result;

    asm volatile("push %%ebx; push %%ebp; mov 4(%%eax), %%ebx; mov 8(%%eax), %%ebp; mov (%%eax), %%eax; int $0x80;"
                 "pop %%ebp; pop %%ebx"
                 : "=a"(result)
                 : "0"(more), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
                 : "memory");
    return result;
}

static void one(int set, int number, const long *arguments)
{
    int ends[2], status;
    long result;

    if (pipe(ends)) return;
    const pid_t child = fork();
    if (!child) {
        dup2(ends[1], ANSWERS);
        for (int i = 0; i < 3; i++) close(i);
        result = call(number, arguments);
        write(ANSWERS, &result, sizeof result);
        _exit(0);
    }
    close(ends[1]);
    if (poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, PATIENCE_MS) == 0) kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (read(ends[0], &result, sizeof result) != sizeof result) printf("%d %d ended %x\n", number, set, status);
    else if (result < 0 && result > -PAGE) printf("%d %d %s\n", number, set, strerrorname_np((int)-result));
    else printf("%d %d %s\n", number, set, result ? "a value" : "0");
    close(ends[0]);
}

int main(void)
{
    const long page = (long)memory;
    const long arguments[SETS][PARAMETERS] = {
        {-1, -1, -1, -1, -1, -1}, {0}, {1, page, 3, page}, {page, PAGE, 3, 1, page, 1}};
    int set, number;
    long random;

    setvbuf(stdout, NULL, _IOLBF, 0);
    getrandom(&random, sizeof random, 0); /* from now on it does not wait */
    for (number = 0; number < CALLS; number++)
        for (set = 0; set < SETS; set++)
            if (!is_left_out(number)) one(set, number, arguments[set]);
    puts("every call");
    return 0;
}
