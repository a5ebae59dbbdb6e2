// SPDX-License-Identifier: BSD-2-Clause
// What a load takes that finds its translation, and one that has to walk the page tables: chains of loads, each of
// which gives the address of the next, through the same number of cache lines in few pages and in many.
#include "process.h"
#include "ticks.h"

#include <algorithm>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

namespace attack {
namespace {

constexpr unsigned page = 4096, line = 64, lines_of_page = page / line;
// More than any TLB of the time holds in pages of 4 KB, and lines enough for a second-level cache.
constexpr unsigned steps = 4096, laps = 101;

using Chain = uintptr_t;

// The place of the n-th line: one to a page, at another offset in each, or as close together as they can be.
char *place(char *base, unsigned n, bool spread)
{
    return spread ? base + n * page + n % lines_of_page * line : base + n * line;
}

// Links the lines in an order that no prefetcher guesses: xorshift32 shuffles it.
Chain *link(char *base, bool spread)
{
    static unsigned order[steps];
    for (unsigned n = 0; n < steps; n++) order[n] = n;
    unsigned random = 2463534242u;
    for (unsigned n = steps - 1; n > 0; n--) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        std::swap(order[n], order[random % (n + 1)]);
    }
    for (unsigned n = 0; n < steps; n++) {
        const auto next = reinterpret_cast<Chain>(place(base, order[(n + 1) % steps], spread));
        *reinterpret_cast<Chain *>(place(base, order[n], spread)) = next;
    }
    return reinterpret_cast<Chain *>(place(base, order[0], spread));
}

// Ticks of a load, the median of many laps.
void report(const char *name, bool spread)
{
    const size_t bytes = spread ? steps * page : steps * line;
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    Chain *at = link(static_cast<char *>(memory), spread);
    static unsigned long long took[laps];
    for (unsigned long long &lap : took) {
        const unsigned long long before = ticks();
        for (unsigned n = 0; n < steps; n++) at = *reinterpret_cast<Chain *volatile *>(at);
        lap = ticks() - before;
    }
    std::nth_element(took, took + laps / 2, took + laps);
    printf("attack: cost %s %.1f\n", name, static_cast<double>(took[laps / 2]) / steps);
    munmap(memory, bytes);
}

} // namespace

void measure_walks()
{
    report("load_hit", false);
    report("load_walk", true);
}

} // namespace attack
