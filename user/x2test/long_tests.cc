// SPDX-License-Identifier: BSD-2-Clause
// What takes the kernel long lets others run meanwhile (docs/preemption.md), and comes to the same end whatever they do.
//
// Main runs above all agents and is woken by the clock: while an agent is in a long system call, main counts how often.
#include "harness.h"

#include <cobnut/audit.h>

namespace x2test {
namespace {

constexpr Word base = 0x10000000, first_log2 = 16; ///< of the pages that all others are derived from
constexpr Word doublings = 11, whole_log2 = first_log2 + doublings;
constexpr Word many_pages = 3u << (whole_log2 - 13);           ///< derived ones: left has a whole, right half of one
constexpr Word kernel_patience = 1000;                         ///< wakes
constinit volatile Word landed = 0;

L4_Fpage_t region(Word log2, Word rights = L4_FullyAccessible) { return L4_FpageLog2(base, log2) + rights; }
cobnut::Audit books() { return cobnut::audit(); }

/// An agent with main's arena at `base`, and two others between which its pages are mapped to and fro until there are very
/// many, all derived from those of the first.
struct Forest {
    Agent *root, *left, *right;

    Forest() : root(agent(Kind::large)), left(agent(Kind::large)), right(agent(Kind::large))
    {
        if (!complete()) return;
        give(root, L4_FpageLog2(arena_page(0), first_log2) + L4_FullyAccessible, 0, region(first_log2, 0));
        bool good = pass(root, left, region(first_log2), 0, region(first_log2, 0));
        for (Word log2 = first_log2; log2 < whole_log2; log2++)
            good = good && pass(left, right, region(log2), 0, region(log2, 0)) &&
                   pass(right, left, region(log2), 0, L4_FpageLog2(base + (1u << log2), static_cast<int>(log2)));
        if (!good) fail("the forest does not grow");
    }
    bool complete() const { return root && left && right; }
    bool gone() const { return faults_on_read(left, base + (1u << whole_log2) - page_size) && faults_on_read(right, base); }
};

bool runs(const Agent *a) { return L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr) == L4_SCHEDRESULT_RUNNING; }

/// How often main is woken while the agent is busy with a system call.
Word wakes_during(Agent *a)
{
    Word woken = 0;
    for (; woken < kernel_patience; woken++) {
        pause(1000);
        if (!runs(a)) break;
    }
    return woken;
}

Word do_land(Word, Word, Word);
Word do_stop(Word id, Word, Word)
{
    return L4_Stop(L4_ThreadId_t{.raw = id}).raw;
}
Word do_send_to_landing(Word id, Word stack, Word)
{
    L4_Start_SpIp(L4_ThreadId_t{.raw = id}, stack, reinterpret_cast<Word>(do_land));
    return 0;
}
Word do_land(Word, Word, Word)
{
    landed = 1;
    for (;;) L4_Sleep(L4_Never);
}

void unmap_is_preempted()
{
    const Forest forest;
    if (!forest.complete()) return;
    ask(forest.left, do_write, base + 5 * page_size, 1);
    const Word before = books().objects;
    begin(forest.root, do_flush, region(first_log2).raw, 0);
    const Word woken = wakes_during(forest.root);
    const L4_Fpage_t status = {.raw = finish(forest.root).value};
    CHECK(woken >= 2);
    CHECK(L4_WasReferenced(status) && L4_WasWritten(status));
    CHECK_EQUAL(before - books().objects, many_pages);
    CHECK_EQUAL(books().faults, 0);
    CHECK(forest.gone());
    CHECK_EQUAL(L4_Rights(L4_Fpage_t{.raw = ask(forest.root, do_flush, region(first_log2, 0).raw, 0).value}), 0); // reported once
}

/// Many fpages, one page each, and the empty rest of the space.
void unmap_of_a_range_is_preempted()
{
    const Forest forest;
    if (!forest.complete()) return;
    const Word before = books().objects;
    begin(forest.left, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0);
    CHECK(wakes_during(forest.left) >= 2);
    finish(forest.left);
    CHECK_EQUAL(books().faults, 0);
    CHECK(before - books().objects >= many_pages - 2 * 16);
    CHECK(faults_on_read(forest.right, base) && !faults_on_read(forest.left, base));
}

/// Whoever is in the middle of it goes away. What it has removed stays removed, the rest stays.
void unmapper_is_deleted()
{
    const Forest forest;
    if (!forest.complete()) return;
    Agent *mate = agent_beside(forest.root);
    if (!mate) return;
    const Word before = books().objects;
    begin(mate, do_flush, region(first_log2).raw, 0);
    pause(2000);
    remove(mate);
    const cobnut::Audit middle = books();
    CHECK_EQUAL(middle.faults, 0);
    CHECK(before - middle.objects > 100 && before - middle.objects < many_pages);
    CHECK(!faults_on_read(forest.root, base));
    ask(forest.root, do_flush, region(first_log2).raw, 0);
    CHECK(forest.gone());
    CHECK_EQUAL(books().faults, 0);
}

/// Halted, it comes to its end; sent elsewhere, it goes there after its end.
void unmapper_is_redirected()
{
    const Forest forest;
    if (!forest.complete()) return;
    Agent *mate = agent_beside(forest.root), *other = agent_beside(forest.root);
    if (!mate || !other) return;
    CHECK(L4_Set_Priority(other->id, 200));
    const Word before = books().objects;
    landed = 0;
    begin(mate, do_flush, region(first_log2).raw, 0);
    pause(2000);
    ask(other, do_stop, mate->id.raw);
    ask(other, do_send_to_landing, mate->id.raw, stack_of(mate));
    CHECK(!landed);
    ask(other, do_stop, mate->id.raw);
    for (int i = 0; i < 100 && before - books().objects < many_pages; i++) pause(10000);
    CHECK_EQUAL(before - books().objects, many_pages);
    CHECK(!landed);
    ask(other, do_send_to_landing, mate->id.raw, stack_of(mate));
    pause(2000);
    CHECK(landed);
    CHECK_EQUAL(books().faults, 0);
    CHECK(forest.gone());
}

/// In another space it unmaps nothing.
void unmapper_migrates()
{
    const Forest forest;
    if (!forest.complete()) return;
    Agent *mate = agent_beside(forest.left);
    if (!mate) return;
    begin(mate, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0x40);
    pause(2000);
    const Word before = books().objects;
    CHECK(runs(mate));
    CHECK(L4_ThreadControl(mate->id, forest.root->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    pause(60000);
    CHECK_EQUAL(books().objects, before);
    CHECK_EQUAL(books().faults, 0);
    CHECK(!faults_on_read(forest.root, base));
}

Word do_delete(Word id, Word, Word)
{
    return L4_ThreadControl(L4_ThreadId_t{.raw = id}, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
}

constexpr Word tables_at_least = 32; ///< pages of kernel memory for the pages that `left` has

void deletion_is_preempted()
{
    const Forest forest;
    Agent *deleter = agent(Kind::here);
    if (!forest.complete() || !deleter) return;
    const cobnut::Audit before = books();
    begin(deleter, do_delete, forest.left->id.raw);
    pause(2000);
    CHECK_EQUAL(books().faults, 0);
    CHECK(books().objects < before.objects && before.objects - books().objects < many_pages);
    CHECK_EQUAL(L4_Schedule(forest.left->id, ~0u, ~0u, ~0u, ~0u, nullptr), 0); // the thread is gone already
    CHECK(wakes_during(deleter) >= 2);
    CHECK_EQUAL(finish(deleter).value, 1);
    const cobnut::Audit after = books();
    CHECK_EQUAL(after.faults, 0);
    CHECK(before.objects - after.objects > many_pages && before.pages - after.pages > tables_at_least);
    CHECK(faults_on_read(forest.right, base) && !faults_on_read(forest.root, base));
}

/// Who deletes the deleter has the rest to do.
void deleter_is_deleted()
{
    const Forest forest;
    Agent *deleter = agent(Kind::here);
    if (!forest.complete() || !deleter) return;
    const cobnut::Audit before = books();
    begin(deleter, do_delete, forest.left->id.raw);
    pause(2000);
    CHECK(runs(deleter));
    remove(deleter);
    const cobnut::Audit after = books();
    CHECK_EQUAL(after.faults, 0);
    CHECK(before.objects - after.objects > many_pages && before.pages - after.pages > tables_at_least);
}

/// Halted, it comes to its end; others can delete meanwhile.
void deleter_is_halted()
{
    const Forest forest;
    Agent *deleter = agent(Kind::here);
    if (!forest.complete() || !deleter) return;
    const cobnut::Audit before = books();
    landed = 0;
    begin(deleter, do_delete, forest.left->id.raw);
    pause(2000);
    L4_Stop(deleter->id);
    remove(forest.right);
    for (int i = 0; i < 100 && before.objects - books().objects < many_pages; i++) pause(10000);
    CHECK(before.objects - books().objects > many_pages);
    L4_Start_SpIp(deleter->id, stack_of(deleter), reinterpret_cast<Word>(do_land));
    pause(20000);
    CHECK(landed);
    CHECK_EQUAL(books().faults, 0);
}

} // namespace

const Test long_tests[] = {
    {"long.unmap_is_preempted", unmap_is_preempted},
    {"long.unmap_of_a_range_is_preempted", unmap_of_a_range_is_preempted},
    {"long.unmapper_is_deleted", unmapper_is_deleted},
    {"long.unmapper_is_redirected", unmapper_is_redirected},
    {"long.unmapper_migrates", unmapper_migrates},
    {"long.deletion_is_preempted", deletion_is_preempted},
    {"long.deleter_is_deleted", deleter_is_deleted},
    {"long.deleter_is_halted", deleter_is_halted},
    {nullptr, nullptr},
};

} // namespace x2test
