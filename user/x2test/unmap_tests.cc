// SPDX-License-Identifier: BSD-2-Clause
// Unmap (manual 4.2): revocation through chains of mappings, partial rights, status bits.
#include "harness.h"

#include <cobnut/pager.h>

namespace x2test {
namespace {

constexpr Word there = free_area; ///< where every agent has the page

/// main -> a -> b -> c, arena page n, each at `there`.
struct Chain {
    Agent *a, *b, *c;

    explicit Chain(Word n) : a(agent(Kind::other)), b(agent(Kind::other)), c(agent(Kind::other))
    {
        if (!complete()) return;
        arena_word(n) = 0x11110000 + n;
        give_page(a, n, there, L4_FullyAccessible);
        if (!pass(a, b, page_at(there, L4_FullyAccessible), 0, page_at(there, 0)) ||
            !pass(b, c, page_at(there, L4_FullyAccessible), 0, page_at(there, 0)))
            fail("the chain of mappings does not come about");
    }
    bool complete() const { return a && b && c; }
};

void chain_from_root()
{
    const Chain chain(0);
    if (!chain.complete()) return;
    CHECK(!faults_on_read(chain.a, there) && !faults_on_read(chain.b, there) && !faults_on_read(chain.c, there));
    L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
    CHECK(faults_on_read(chain.a, there));
    CHECK(faults_on_read(chain.b, there));
    CHECK(faults_on_read(chain.c, there));
    CHECK_EQUAL(arena_word(0), 0x11110000); // without flush one's own page stays
}

void chain_from_middle()
{
    const Chain chain(1);
    if (!chain.complete()) return;
    CHECK(!faults_on_read(chain.b, there) && !faults_on_read(chain.c, there));
    ask(chain.a, do_flush, page_at(there, L4_FullyAccessible).raw, 0);
    CHECK(!faults_on_read(chain.a, there));
    CHECK(faults_on_read(chain.b, there));
    CHECK(faults_on_read(chain.c, there));
}

void flush_takes_own()
{
    const Chain chain(2);
    if (!chain.complete()) return;
    CHECK(!faults_on_read(chain.b, there));
    ask(chain.b, do_flush, page_at(there, L4_FullyAccessible).raw, 0x40);
    CHECK(!faults_on_read(chain.a, there));
    CHECK(faults_on_read(chain.b, there));
    CHECK(faults_on_read(chain.c, there));
}

void write_right_only()
{
    const Chain chain(3);
    if (!chain.complete()) return;
    CHECK(!faults_on_write(chain.c, there));
    L4_Unmap(page_at(arena_page(3), L4_Writable));
    CHECK(!faults_on_read(chain.c, there));
    CHECK(faults_on_write(chain.a, there));
    CHECK(faults_on_write(chain.c, there));
    arena_word(3) = 5; // main keeps its own right
    CHECK_EQUAL(arena_word(3), 5);
}

/// Unmapping a range that is larger than what is mapped in it.
void large_range()
{
    const Chain chain(4);
    if (!chain.complete()) return;
    L4_Unmap(L4_FpageLog2(arena_page(0), 16) + L4_FullyAccessible);
    CHECK(faults_on_read(chain.a, there));
    CHECK(faults_on_read(chain.c, there));
}

void neighbours_stay()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    for (Word i = 0; i < 4; i++) give_page(a, i, there + i * page_size, L4_FullyAccessible);
    L4_Unmap(page_at(arena_page(1), L4_FullyAccessible));
    CHECK(!faults_on_read(a, there));
    CHECK(faults_on_read(a, there + page_size));
    CHECK(!faults_on_read(a, there + 2 * page_size));
}

/// One page at two places in one space: both go.
void both_aliases()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    give_page(a, 5, there, L4_FullyAccessible);
    give_page(a, 5, there + 0x8000, L4_FullyAccessible);
    CHECK(!faults_on_read(a, there) && !faults_on_read(a, there + 0x8000));
    L4_Unmap(page_at(arena_page(5), L4_FullyAccessible));
    CHECK(faults_on_read(a, there) && faults_on_read(a, there + 0x8000));
}

void status_of_children()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    give_page(a, 6, there, L4_FullyAccessible);
    L4_GetStatus(page_at(arena_page(6), 0));
    ask(a, do_read, there);
    L4_Fpage_t status = L4_GetStatus(page_at(arena_page(6), 0));
    CHECK(L4_WasReferenced(status) && !L4_WasWritten(status));
    ask(a, do_write, there, 1);
    status = L4_GetStatus(page_at(arena_page(6), 0));
    CHECK(L4_WasWritten(status));
    status = L4_GetStatus(page_at(arena_page(6), 0)); // reading has reset it
    CHECK_EQUAL(L4_Rights(status), 0);
    CHECK(!faults_on_write(a, there)); // and revoked nothing
}

void status_survives_revocation()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    give_page(a, 7, there, L4_FullyAccessible);
    CHECK(pass(a, b, page_at(there, L4_FullyAccessible), 0, page_at(there, 0)));
    L4_GetStatus(page_at(arena_page(7), 0));
    ask(b, do_write, there, 1);
    ask(a, do_flush, page_at(there, L4_FullyAccessible).raw, 0x40); // a drops it, and b with it
    const L4_Fpage_t status = L4_GetStatus(page_at(arena_page(7), 0));
    CHECK(L4_WasReferenced(status) && L4_WasWritten(status));
}

void status_of_unmap()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    give_page(a, 8, there, L4_FullyAccessible);
    L4_GetStatus(page_at(arena_page(8), 0));
    ask(a, do_write, there, 1);
    const L4_Fpage_t f = page_at(arena_page(8), L4_FullyAccessible);
    const L4_Fpage_t status = L4_Unmap(f);
    CHECK_EQUAL(status.raw & ~7u, f.raw & ~7u);
    CHECK(L4_WasReferenced(status) && L4_WasWritten(status));
}

void many_fpages()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    for (Word i = 0; i < arena_pages; i++) give_page(a, i, there + i * page_size, L4_FullyAccessible);
    L4_Fpage_t pages[64];
    for (Word i = 0; i < 64; i++) pages[i] = i < arena_pages ? page_at(arena_page(i), L4_FullyAccessible) : L4_Nilpage;
    L4_UnmapFpages(64, pages);
    for (Word i = 0; i < arena_pages; i++) CHECK_EQUAL(L4_Address(pages[i]), arena_page(i));
    CHECK_EQUAL(pages[63].raw, 0);
    for (Word i = 0; i < arena_pages; i += 5) CHECK(faults_on_read(a, there + i * page_size));
}

void nil_and_bogus_fpages()
{
    L4_Unmap(L4_Nilpage);
    L4_Unmap(L4_Fpage_t{.raw = 0xFFFFFFFF});
    L4_Unmap(L4_FpageLog2(0xF0000000, 28) + L4_FullyAccessible);
    L4_Unmap(L4_FpageLog2(0x12345000, 9) + L4_FullyAccessible);
    CHECK_EQUAL(L4_MyGlobalId().raw, main_id.raw);
}

/// An agent works on a page while main takes it away again and again.
Word do_work(Word address, Word rounds, Word)
{
    for (Word i = 0; i < rounds; i++) {
        volatile Word *p = reinterpret_cast<volatile Word *>(address);
        const Word old = *p;
        *p = old + 1;
    }
    return 0;
}
void during_use()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    arena_word(9) = 0;
    constexpr Word rounds = 2000000;
    begin(a, do_work, there, rounds);
    unsigned faults = 0;
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait_Timeout(second, &from);
    while (L4_IpcSucceeded(tag) && cobnut::is_page_fault(tag)) {
        faults++;
        cobnut::load_answer(L4_MapItem(page_at(arena_page(9), L4_FullyAccessible), there));
        CHECK(L4_IpcSucceeded(L4_Reply(from)));
        if (faults < 40) {
            pause(500);
            L4_Unmap(page_at(arena_page(9), faults % 3 ? L4_FullyAccessible : L4_Writable));
        }
        tag = L4_Wait_Timeout(second, &from);
    }
    CHECK(L4_IpcSucceeded(tag));
    CHECK_EQUAL(L4_Label(tag), 0x0D0E);
    CHECK(faults > 1);
    CHECK_EQUAL(arena_word(9), rounds); // no access was lost or doubled
}

} // namespace

const Test unmap_tests[] = {
    {"unmap.chain_from_root", chain_from_root},
    {"unmap.chain_from_middle", chain_from_middle},
    {"unmap.flush_takes_own", flush_takes_own},
    {"unmap.write_right_only", write_right_only},
    {"unmap.large_range", large_range},
    {"unmap.neighbours_stay", neighbours_stay},
    {"unmap.both_aliases", both_aliases},
    {"unmap.status_of_children", status_of_children},
    {"unmap.status_survives_revocation", status_survives_revocation},
    {"unmap.status_of_unmap", status_of_unmap},
    {"unmap.many_fpages", many_fpages},
    {"unmap.nil_and_bogus_fpages", nil_and_bogus_fpages},
    {"unmap.during_use", during_use},
    {nullptr, nullptr},
};

} // namespace x2test
