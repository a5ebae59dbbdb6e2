// SPDX-License-Identifier: BSD-2-Clause
// stress: random system calls of many threads in many spaces, each outcome compared with a model of which space may see
// which page.
//
// Command line: seed=N and operations=N (of all families together), families=N (1 to 4), area=MB the kernel's
// small-space area. The same seed gives the same run where time follows the instruction count. Ends with a line
// `stress: NAME N` for each counter and the machine off; the first thing that is wrong ends it with a line that says
// FAIL, and status 1.
#include "family.h"

#include <cobnut/boot.h>
#include <cobnut/options.h>
#include <cobnut/program.h>
#include <l4/schedule.h>

extern "C" char image_start[], image_end[];

namespace stress {

constinit L4_ThreadId_t root_id = {};

namespace {

constexpr Word page_size = 4096;
constexpr Word worker_stack = stack_pages * page_size / (spaces * threads);
constexpr Word controller_stack = 2 * page_size;
constexpr L4_Time_t pause = {.raw = (10 << 10) | 196}; // 0.2 s
constexpr Word patience = 5;

alignas(page_size) constinit unsigned char worker_stacks[families_most][stack_pages * page_size] = {};
alignas(page_size) constinit unsigned char controller_stacks[families_most][controller_stack] = {};
constinit Family families[families_most] = {};
constinit Word operations_each = 0;
constinit bool far_pages = false;

[[noreturn]] void controller_main()
{
    families[L4_UserDefinedHandle()].run(operations_each);
    for (;;) L4_Sleep(L4_Never);
}

bool start_controller(Word index, Word first_thread)
{
    const L4_ThreadId_t id = L4_GlobalId(first_thread + index, 1);
    const auto utcb = reinterpret_cast<void *>((L4_MyLocalId().raw & ~0x1FFFFu) + 512 * (index + 1));
    if (!L4_ThreadControl(id, root_id, root_id, root_id, utcb)) return false;
    L4_Set_UserDefinedHandleOf(id, index);
    L4_Set_Timeslice(id, L4_TimePeriod(1000), L4_Never);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(controller_main));
    L4_LoadMR(2, reinterpret_cast<Word>(controller_stacks[index]) + controller_stack - 16);
    return L4_IpcSucceeded(L4_Send(id));
}

// Sigma0 also gives addresses at which there is no memory.
bool is_memory(Word first, Word size)
{
    if (!cobnut::map_physical(first, size)) return false;
    auto *word = reinterpret_cast<volatile Word *>(first + size - page_size);
    *word = first;
    return *word == first;
}

Word sum(Counter counter)
{
    Word total = 0;
    for (const Family &family : families) total += family.count[counter];
    return total;
}

bool all_done(Word many)
{
    for (Word i = 0; i < many; i++)
        if (!families[i].done) return false;
    return true;
}

int run(Word seed, Word many, Word area_mb)
{
    if (!is_memory(memory_area, families_most * pages * page_size)) {
        cobnut::print("stress: FAIL no memory at %08x\n", memory_area);
        return 1;
    }
    far_pages = is_memory(far_memory, families_most * pages * page_size);
    const Word first_controller = L4_ThreadNo(root_id) + 1, first_worker = first_controller + families_most;
    for (Word i = 0; i < many; i++) families[i].prepare(i, seed, area_mb, first_worker + i * spaces * threads);
    for (Word i = 0; i < many; i++)
        if (!start_controller(i, first_controller)) {
            cobnut::print("stress: FAIL cannot start a controller: error %u\n", L4_ErrorCode());
            return 1;
        }
    for (Word seen = 0, waited = 0; !all_done(many); waited++) {
        L4_Sleep(pause);
        if (sum(operations) != seen) waited = 0;
        seen = sum(operations);
        if (waited == patience) {
            cobnut::print("stress: FAIL seed %u: hangs after %u operations\n", seed, seen);
            return 1;
        }
    }
    cobnut::print("stress: done with seed %u\n", seed);
    for (Word i = 0; i < counters; i++)
        cobnut::print("stress: %s %u\n", counter_names[i], sum(static_cast<Counter>(i)));
    return 0;
}

} // namespace

Word page_address(Word family, Word page)
{
    if (far_pages && is_far(page)) return far_memory + (family * pages + page) * page_size;
    return memory_area + (family * pages + page) * page_size;
}

Word stack_of(Word family, Word space, Word thread)
{
    return reinterpret_cast<Word>(worker_stacks[family]) + (space * threads + thread + 1) * worker_stack - 16;
}

} // namespace stress

int cobnut_main(const char *command_line)
{
    using namespace stress;
    root_id = L4_Myself();
    const cobnut::Options options(command_line);
    bool bad = false;
    const Word seed = options.number("seed", 1, &bad), many = options.number("operations", 20000, &bad);
    const Word families_wanted = options.number("families", families_most, &bad);
    const Word area_mb = options.number("area", 512, &bad);
    if (bad || families_wanted < 1 || families_wanted > families_most) {
        cobnut::print("stress: FAIL bad option in '%s'\n", command_line);
        return 2;
    }
    if (reinterpret_cast<Word>(image_end) > image_base + (1u << image_log2)) {
        cobnut::print("stress: FAIL the image is longer than what workers get of it\n");
        return 2;
    }
    // No pager could answer a fault of the root space's own while it is small.
    for (char *p = image_start; p < image_end; p += page_size) (void)*static_cast<volatile char *>(p);
    operations_each = (many + families_wanted - 1) / families_wanted;
    return run(seed, families_wanted, area_mb);
}
