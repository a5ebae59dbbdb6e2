// SPDX-License-Identifier: BSD-2-Clause
// MemoryControl over pages that very much is derived from, or that come into being for it (docs/preemption.md).
#include "forest.h"

#include <cobnut/audit.h>
#include <l4/misc.h>

namespace x2test {
namespace {

constexpr Word registers = 64;

/// All of main's first pages get the attribute that they have, `times` in a row.
Word do_set_attributes(Word log2, Word times, Word)
{
    const Word attributes[4] = {};
    for (Word n = 0; n < times; n++)
        L4_LoadMR(static_cast<int>(n), L4_FpageLog2(arena_page(0), static_cast<int>(log2)).raw);
    return L4_MemoryControl(times - 1, attributes) ? 0 : L4_ErrorCode();
}

bool runs(const Agent *a) { return L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr) == L4_SCHEDRESULT_RUNNING; }

/// Others run meanwhile, and no page's status is touched.
void setting_is_preempted()
{
    constexpr Word patience = 1000;
    const Forest forest;
    Agent *setter = agent(Kind::here);
    if (!forest.complete() || !setter) return;
    L4_Fpage_t first = region(first_log2, L4_NoAccess);
    ask(forest.root, do_flush, first.raw, 0);
    ask(forest.left, do_write, base + 5 * page_size, 1);
    begin(setter, do_set_attributes, first_log2, 8);
    Word woken = 0;
    for (; woken < patience; woken++) {
        pause(1000);
        if (!runs(setter)) break;
    }
    CHECK(woken >= 2);
    CHECK_EQUAL(finish(setter).value, 0);
    CHECK_EQUAL(cobnut::audit().faults, 0);
    first.raw = ask(forest.root, do_flush, first.raw, 0).value;
    CHECK(L4_WasReferenced(first) && L4_WasWritten(first));
    CHECK_EQUAL(seen(forest.right, base + 5 * page_size), 1);
}

/// The caller is deleted in the middle of it, with an Unmap of the same pages beside it.
void setter_is_deleted()
{
    const Forest forest;
    Agent *setter = agent(Kind::here);
    if (!forest.complete() || !setter) return;
    begin(setter, do_set_attributes, first_log2, registers);
    pause(2000);
    CHECK(runs(setter));
    begin(forest.root, do_flush, region(first_log2, L4_Writable).raw, 0);
    pause(1000);
    remove(setter);
    finish(forest.root);
    CHECK_EQUAL(cobnut::audit().faults, 0);
    CHECK(faults_on_write(forest.left, base) && faults_on_write(forest.right, base));
}

/// The laboratory counts how long interrupts are off.
void attributes()
{
    if (!wish.latency) return;
    const Forest forest;
    Agent *setter = agent(Kind::here);
    if (!forest.complete() || !setter) return;
    CHECK_EQUAL(ask(setter, do_set_attributes, 12, registers).value, 0);
}

/// As many pages of a device as come into being at a time, for a thread that asks sigma0 for them.
void attributes_of_a_device()
{
    constexpr Word nowhere = 0x90000000;
    constexpr int piece_log2 = 22;
    if (!wish.latency) return;
    Agent *a = agent(Kind::large);
    if (!a) return;
    const L4_Fpage_t device = L4_FpageLog2(nowhere, piece_log2);
    CHECK(ask(a, do_sigma0_get, device.raw, L4_UncacheableMemory).value != ~0u);
}

} // namespace

const Test attribute_tests[] = {
    {"long.setting_is_preempted", setting_is_preempted},
    {"long.setter_is_deleted", setter_is_deleted},
    {"latency.attributes", attributes},
    {"latency.attributes_of_a_device", attributes_of_a_device},
    {nullptr, nullptr},
};

} // namespace x2test
