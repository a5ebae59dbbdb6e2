// SPDX-License-Identifier: BSD-2-Clause
// share: spaces that take all the kernel memory that they get, beside one that works.
//
// The greedy spaces touch one page after the other, and the root thread, their pager, maps each, until the kernel
// refuses. They go on trying. Meanwhile a working space has page faults, in page tables of its own, and gets threads.
// Nothing of that may fail.
//
// Command line (defaults first):
//   greedy=2        how many of them, up to 8
//   step=           bytes from one page of theirs to the next, in KB; as much as a page table maps if left out
//   rounds=3        page tables that the working space needs
//   limits=0        1: instead of that, limits are tried
#include "share.h"

#include <cobnut/options.h>

namespace share {
namespace {

constexpr Word worker = 0, first_visitor = 1, visitors = 12, first_greedy = 16, most_greedy = 8;
constexpr Word greedy_base = 0x10000000, greedy_end = 0xB0000000, worker_base = 0x40000000, pages_of_round = 40;

constinit unsigned greedy_count = 2, step_kb = table_bytes / 1024, rounds = 3, limits = 0;
constinit Word next_page[most_greedy] = {};

void be_greedy()
{
    Word &page = next_page[number_of_myself() - first_greedy];
    for (; page < greedy_end; page += step_kb * 1024) touch(page);
    for (;;) done();
}

void work()
{
    for (Word round = 0;; round++) {
        for (Word n = 0; n < pages_of_round; n++) touch(worker_base + round * table_bytes + n * page_size);
        done();
    }
}

void visit()
{
    touch(worker_base);
    for (;;) done();
}

/// All of them, until they are refused, or have touched all that there is.
void take_all()
{
    Word refused = 0;
    for (Word n = 0; n < greedy_count; n++) {
        if (next_page[n] == greedy_end) continue;
        const Word error = serve(first_greedy + n);
        if (error && error != overflow_sent) fail("a greedy space", n, error);
        refused += error != 0;
    }
    if (!refused) fail("greed has no end");
}

void start_greedy()
{
    for (Word n = 0; n < greedy_count; n++) {
        next_page[n] = greedy_base;
        if (const Word error = create_space(first_greedy + n)) fail("a greedy space", n, error);
        start(first_greedy + n, be_greedy);
    }
    take_all();
    for (Word n = 0; n < greedy_count; n++) {
        const L4_ThreadId_t id = thread(first_greedy + n);
        cobnut::print("share: greedy space %u holds %u pages\n", n, cobnut::kernel_memory_used(id));
    }
    cobnut::print("share: they leave %u pages\n", cobnut::audit().unused);
}

void work_beside_them()
{
    start(worker, work);
    for (Word round = 0; round < rounds; round++) {
        take_all();
        if (const Word error = serve(worker)) fail("a page fault of the working space", round, error);
        for (Word n = 0; n < visitors; n++) {
            take_all();
            const Word visitor = first_visitor + n;
            if (const Word error = create_thread(visitor, worker)) fail("a thread of the working space", n, error);
            start(visitor, visit);
            if (const Word error = serve(visitor)) fail("a page fault of a new thread", n, error);
        }
        books();
        for (Word n = 0; n < visitors; n++) remove(first_visitor + n);
    }
}

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    greedy_count = options.number("greedy", greedy_count, &bad);
    step_kb = options.number("step", step_kb, &bad);
    rounds = options.number("rounds", rounds, &bad);
    limits = options.number("limits", limits, &bad);
    return !bad && greedy_count <= most_greedy && step_kb && step_kb % 4 == 0;
}

void run()
{
    if (limits) return try_limits();
    if (const Word error = create_space(worker)) fail("the working space", error);
    start_greedy();
    work_beside_them();
    cobnut::print("share: the working space holds %u pages\n", cobnut::kernel_memory_used(thread(worker)));
    for (Word n = 0; n < greedy_count; n++) remove(first_greedy + n);
    remove(worker);
}

} // namespace
} // namespace share

int cobnut_main(const char *command_line)
{
    using namespace share;
    if (!parse(command_line)) fail("bad option");
    first_number = L4_ThreadNo(L4_Myself()) + 1;
    touch_image();
    const cobnut::Audit before = books();
    run();
    const cobnut::Audit after = books();
    if (after.objects != before.objects) fail("objects are left over", before.objects, after.objects);
    cobnut::print("share: done\n");
    return 0;
}
