// SPDX-License-Identifier: BSD-2-Clause
// What this processor takes for what Cobnut's switches are made of, in ticks of its time-stamp counter: the median of
// many runs of 64 operations each, less that of an empty run.
#include "process.h"
#include "ticks.h"

#include <algorithm>
#include <sched.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace attack {
namespace {

constexpr int runs = 2001, pipe_runs = 5001, operations = 64;

template <typename Run> unsigned long long median(int count, Run run)
{
    static unsigned long long took[pipe_runs];
    for (int i = 0; i < count; i++) {
        const unsigned long long before = ticks();
        run();
        took[i] = ticks() - before;
    }
    std::nth_element(took, took + count / 2, took + count);
    return took[count / 2];
}

template <typename Run> void report(const char *name, Run run)
{
    const unsigned long long empty = median(runs, [] {});
    const unsigned long long took = median(runs, run);
    printf("attack: cost %s %.1f\n", name, static_cast<double>(took - std::min(took, empty)) / operations);
}

#define MANY(text) ".rept 64\n" text "\n.endr"

#define LOAD(segment)                                                                                                  \
    report("load_" #segment, [] {                                                                                      \
        unsigned saved;                                                                                                \
        __asm__ volatile("mov %%" #segment ", %0\n" MANY("mov %1, %%" #segment) "\nmov %0, %%" #segment                \
                         : "=&r"(saved)                                                                                \
                         : "r"(data_selector()));                                                                      \
    })

// One pipe each way between two processes on one processor: a byte there and a byte back.
void pipe_round_trip()
{
    int there[2], back[2];
    if (pipe(there) || pipe(back)) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
    char byte = 0;
    const pid_t child = fork();
    if (child < 0) return;
    if (child == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1)
            if (write(back[1], &byte, 1) != 1) break;
        _exit(0);
    }
    const unsigned long long took = median(pipe_runs, [&] {
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) _exit(1);
    });
    close(there[1]);
    waitpid(child, nullptr, 0);
    printf("attack: cost pipe_round_trip %llu\n", took);
}

// The shortest system call by the gate of `int` and, where the kernel offers one, by the way that it says is fast: by
// sysenter or syscall.
void measure_calls()
{
    report("int_getppid", [] {
        long result;
        __asm__ volatile(MANY("mov %1, %%eax; int $0x80") : "=&a"(result) : "i"(SYS_getppid) : "memory");
    });
    const unsigned long fast = getauxval(AT_SYSINFO);
    if (!fast) return;
    report("fast_getppid", [fast] {
        long result;
        __asm__ volatile(MANY("mov %2, %%eax; call *%1") : "=&a"(result) : "r"(fast), "i"(SYS_getppid) : "memory");
    });
}

} // namespace

void measure()
{
    LOAD(ds);
    LOAD(es);
    LOAD(fs);
    // GS is the C library's, which is in use all the time; SS is needed for the next signal: both cost what FS and DS
    // do.
    report("far_return", [] { __asm__ volatile(MANY("push %%cs; push $1f; lret; 1:") : : : "memory"); });
    report("near_return", [] { __asm__ volatile(MANY("push $1f; ret; 1:") : : : "memory"); });
    report("getppid", [] {
        for (int i = 0; i < operations; i++) syscall(SYS_getppid);
    });
    report("call_return", [] { __asm__ volatile(MANY("call 1f; jmp 2f; 1: ret; 2:") : : : "memory"); });
    measure_calls();
    measure_walks();
    pipe_round_trip();
}

} // namespace attack
