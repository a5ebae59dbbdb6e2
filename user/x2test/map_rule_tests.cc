// SPDX-License-Identifier: BSD-2-Clause
// What the rights of an item do and do not do, and what a grant leaves behind (manual 5.2, 5.3, 4.2).
#include "harness.h"

namespace x2test {
namespace {

constexpr Word mark = 0x6A0D0000;

/// What the mapper gains later is not passed on by itself.
void rights_do_not_spread()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_Readable);
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area, 0)));
    give_page(a, 0, free_area, L4_FullyAccessible);
    CHECK(!faults_on_write(a, free_area));
    CHECK(faults_on_write(b, free_area));
}

/// The same frame from another mapper is another mapping: the old one goes, rights are not added up.
void same_frame_from_another_mapper()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_FullyAccessible);
    give_page(b, 0, free_area, L4_FullyAccessible);
    CHECK(pass(a, b, page_at(free_area, L4_Readable), 0, page_at(free_area, 0)));
    CHECK_EQUAL(seen(b, free_area), mark);
    CHECK(faults_on_write(b, free_area));
    ask(a, do_flush, page_at(free_area, L4_FullyAccessible).raw, 0); // now derived from a's
    CHECK_EQUAL(seen(b, free_area), faulted);
}

/// Address bits below the size do not count: neither in what is sent, nor in the window, nor in what is unmapped.
void bases_are_aligned()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    constexpr Word size = 16; // 64 KB
    auto within = [](Word address, Word rights) { return L4_Fpage_t{.raw = address | size << 4 | rights}; };
    give(a, within(arena_page(3), L4_FullyAccessible), 0, within(free_area + 5 * page_size, 0));
    for (Word i = 0; i < arena_pages; i += 5) CHECK_EQUAL(seen(a, free_area + i * page_size), mark + i);
    L4_Unmap(within(arena_page(7), L4_FullyAccessible));
    for (Word i = 0; i < arena_pages; i += 5) CHECK_EQUAL(seen(a, free_area + i * page_size), faulted);
}

/// Rights of zero map nothing, and take nothing away.
void no_rights()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_NoAccess);
    CHECK_EQUAL(seen(a, free_area), faulted);
    give_page(a, 1, free_area, L4_FullyAccessible);
    give_page(a, 1, free_area, L4_NoAccess);
    CHECK(!faults_on_write(a, free_area));
}

/// Only writing can be given or refused by itself: the page's rights are as the interface page says.
void each_right_alone()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(L4_PageRights(L4_GetKernelInterface()) & L4_Writable, L4_Writable);
    mark_arena(mark);
    const Word rights[] = {L4_Readable, L4_eXecutable, L4_ReadeXecOnly, L4_Writable, L4_ReadWriteOnly};
    for (Word i = 0; i < 5; i++) {
        const Word at = free_area + i * page_size;
        give_page(a, i, at, rights[i]);
        CHECK_EQUAL(seen(a, at), mark + i);
        CHECK_EQUAL(faults_on_write(a, at), !(rights[i] & L4_Writable));
    }
}

/// Revoking what cannot be had alone changes nothing; writing alone can be revoked, and given again.
void revoked_one_by_one()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_FullyAccessible);
    constexpr Word not_writing[] = {L4_Readable, L4_eXecutable, L4_ReadeXecOnly};
    for (const Word rights : not_writing) {
        L4_Unmap(page_at(arena_page(0), rights));
        CHECK(!faults_on_write(a, free_area));
    }
    L4_Unmap(page_at(arena_page(0), L4_Writable));
    CHECK(seen(a, free_area) != faulted);
    CHECK(faults_on_write(a, free_area));
    give_page(a, 0, free_area, L4_FullyAccessible);
    CHECK(!faults_on_write(a, free_area));
}

/// Items of one message are done in their order.
void items_in_order()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 2, free_area, L4_FullyAccessible);
    give_page(a, 3, free_area + page_size, L4_FullyAccessible);
    begin(b, [](Word from, Word window, Word) {
        L4_Accept(L4_MapGrantItems(L4_Fpage_t{.raw = window}));
        const Word tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second).raw;
        L4_Accept(L4_UntypedWordsAcceptor);
        return tag;
    }, a->id.raw, page_at(free_area, 0).raw);
    ask(a, [](Word to, Word, Word) {
        const Word page0 = page_at(free_area, L4_FullyAccessible).raw, page1 = page0 + page_size;
        const Word mr[] = {4u << 6, 8, page0, 8, page1};
        L4_LoadMRs(0, 5, mr);
        return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second).raw;
    }, b->id.raw);
    CHECK_EQUAL(finish(b).value, 4u << 6);
    CHECK_EQUAL(seen(b, free_area), mark + 3);
}

void grant_restricts_rights()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_FullyAccessible);
    CHECK(pass(a, b, page_at(free_area, L4_Readable), 0, page_at(free_area, 0), true));
    CHECK_EQUAL(seen(b, free_area), mark);
    CHECK(faults_on_write(b, free_area));
    CHECK_EQUAL(seen(a, free_area), faulted);
    // nor can it widen them
    give_page(a, 1, free_area, L4_Readable);
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area, 0), true));
    CHECK_EQUAL(seen(b, free_area), mark + 1);
    CHECK(faults_on_write(b, free_area));
}

/// Of an fpage that is larger than the window, the send base's part goes and the rest stays.
void grant_into_smaller_window()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give(a, L4_FpageLog2(arena_page(0), 14) + L4_FullyAccessible, 0, L4_FpageLog2(free_area, 14));
    CHECK(pass(a, b, L4_FpageLog2(free_area, 14) + L4_FullyAccessible, 0x2000, page_at(free_area + 0x8000, 0), true));
    CHECK_EQUAL(seen(b, free_area + 0x8000), mark + 2);
    for (Word i = 0; i < 4; i++) CHECK_EQUAL(seen(a, free_area + i * page_size), i == 2 ? faulted : mark + i);
}

void grant_into_larger_window()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 5, free_area, L4_FullyAccessible);
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0x3000, L4_FpageLog2(free_area, 14), true));
    CHECK_EQUAL(seen(b, free_area + 0x3000), mark + 5);
    CHECK_EQUAL(seen(a, free_area), faulted);
}

/// What stood where a grant goes is unmapped first, with what is derived from it.
void grant_replaces()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other), *c = agent(Kind::other);
    if (!a || !b || !c) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_FullyAccessible);
    give_page(b, 1, free_area, L4_FullyAccessible);
    CHECK(pass(b, c, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area, 0)));
    CHECK_EQUAL(seen(c, free_area), mark + 1);
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area, 0), true));
    CHECK_EQUAL(seen(b, free_area), mark);
    CHECK_EQUAL(seen(c, free_area), faulted);
}

/// A grant of nothing gives nothing away.
void grant_of_nilpage()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_FullyAccessible);
    CHECK(pass(a, b, L4_Nilpage, 0, L4_CompleteAddressSpace, true));
    CHECK_EQUAL(seen(a, free_area), mark);
    CHECK_EQUAL(seen(b, free_area), faulted);
}

/// Status bits: reading and executing are one on this processor, writing is of its own; the first reading resets them.
void status_bits()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    give_page(a, 0, free_area, L4_FullyAccessible);
    const L4_Fpage_t page = page_at(free_area, 0);
    ask(a, do_flush, page.raw, 0);
    CHECK_EQUAL(ask(a, do_flush, page.raw, 0).value & 7, 0);
    ask(a, do_read, free_area);
    CHECK_EQUAL(ask(a, do_flush, page.raw, 0).value & 7, L4_ReadeXecOnly);
    ask(a, do_write, free_area, 1);
    CHECK_EQUAL(ask(a, do_flush, page.raw, 0).value & 7, L4_FullyAccessible);
    CHECK_EQUAL(ask(a, do_flush, page.raw, 0).value & 7, 0);
}

/// Resetting the status of one's own page does not reset what its mappings report to whom they got it on to.
void status_is_not_reset_below()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    give_page(a, 0, free_area, L4_FullyAccessible);
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area, 0)));
    ask(b, do_write, free_area, 1);
    CHECK(L4_WasWritten(L4_GetStatus(page_at(arena_page(0), 0))));
    CHECK_EQUAL(L4_Rights(L4_GetStatus(page_at(arena_page(0), 0))), 0); // main's has been read
    CHECK_EQUAL(ask(a, do_flush, page_at(free_area, 0).raw, 0).value & 7, L4_FullyAccessible); // a's has not
}

} // namespace

const Test map_rule_tests[] = {
    {"map.rights_do_not_spread", rights_do_not_spread},
    {"map.same_frame_from_another_mapper", same_frame_from_another_mapper},
    {"map.bases_are_aligned", bases_are_aligned},
    {"map.no_rights", no_rights},
    {"map.each_right_alone", each_right_alone},
    {"map.items_in_order", items_in_order},
    {"map.grant_restricts_rights", grant_restricts_rights},
    {"map.grant_into_smaller_window", grant_into_smaller_window},
    {"map.grant_into_larger_window", grant_into_larger_window},
    {"map.grant_replaces", grant_replaces},
    {"map.grant_of_nilpage", grant_of_nilpage},
    {"unmap.revoked_one_by_one", revoked_one_by_one},
    {"unmap.status_bits", status_bits},
    {"unmap.status_is_not_reset_below", status_is_not_reset_below},
    {nullptr, nullptr},
};

} // namespace x2test
