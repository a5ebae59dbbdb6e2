// SPDX-License-Identifier: BSD-2-Clause
// Two things one after the other that each take as long as one may without an interrupt. With the option latency=1; how
// long interrupts are off is the laboratory's to count (`./cobnut run latency/worst`).
#include "../forest.h"
#include "reflected.h"

#include <cobnut/lab.h>
#include <cobnut/tags.h>
#include <initializer_list>

namespace x2test {
namespace {

constexpr Word mb = 1u << 20, table_bytes = 4 * mb;
constexpr Word far_base = 0x50000000; ///< where no space has a page table

/// `from` maps its page there to as many places of `to`.
bool derive(Agent *from, Word page, Agent *to, Word count)
{
    const L4_Fpage_t item = page_at(page, L4_Readable);
    for (Word n = 0; n < count; n++)
        if (!pass(from, to, item, 0, L4_FpageLog2(base + n * page_size, 12))) return false;
    return true;
}

Word do_write_paged(Word pager, Word, Word)
{
    L4_Set_Pager(L4_ThreadId_t{.raw = pager});
    do_write(to_base, 1, 0);
    L4_Set_Pager(main_id);
    return 0;
}
/// A pager's answer takes the place of a page that many others are derived from: the shortest way begins with them.
void answer_over_others()
{
    constexpr Word copies = 160;
    if (!wish.latency) return;
    Agent *other = agent(Kind::large);
    const Pair p = pair_of(Kind::large, Kind::large);
    if (!other || !p) return;
    give_page(p.client, 0, to_base, L4_Readable);
    give_page(p.server, 1, base, L4_FullyAccessible);
    CHECK(derive(p.client, to_base, other, copies));
    ask(p.server, do_read, base);
    catch_from(p, do_write_paged);
    const L4_MapItem_t item = L4_MapItem(page_at(base, L4_FullyAccessible), to_base);
    answer[0] = 2u << 6, answer[1] = item.raw[0], answer[2] = item.raw[1];
    begin(p.server, do_answer_last, p.client->id.raw);
    CHECK(finish(p.client).done && !p.client->out.faults);
    CHECK_EQUAL(arena_word(1), 1);
    CHECK(faults_on_read(other, base));
}

/// Waits for items, wherever they are to go.
Word do_take_anywhere(Word from, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// Sends its first page to one place there, and takes another's for a place of its own.
Word do_replace(Word to, Word place, Word from)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    const L4_MapItem_t item = L4_MapItem(region(12), place);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    L4_ThreadId_t other;
    const L4_ThreadId_t partner = {.raw = from};
    const L4_MsgTag_t tag = L4_Ipc(L4_ThreadId_t{.raw = to}, partner, L4_Timeouts(second, second), &other);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}
/// A call sends half of the work that may be done without an interrupt, and receives all of it.
void message_behind_a_message()
{
    constexpr Word few = 24, many = 100;
    if (!wish.latency) return;
    Agent *a = agent(Kind::large), *b = agent(Kind::large), *c = agent(Kind::large), *other = agent(Kind::large);
    if (!a || !b || !c || !other) return;
    for (Agent *one : {a, c}) give_page(one, 0, base, L4_FullyAccessible);
    for (Agent *one : {a, b}) {
        give_page(one, 1, to_base, L4_FullyAccessible);
        CHECK(derive(one, to_base, other, one == b ? few : many));
    }
    begin(c, do_replace, a->id.raw, to_base, L4_nilthread.raw);
    begin(b, do_take_anywhere, a->id.raw);
    pause(2000);
    ask(a, do_replace, b->id.raw, to_base, c->id.raw);
    CHECK_EQUAL(finish(b).value, 0);
    CHECK_EQUAL(finish(c).value, 0);
    CHECK_EQUAL(a->out.value, 0);
}

/// An Unmap that has used up what it may do without an interrupt comes past what has no page tables to the last page
/// of a table.
void unmap_past_tables()
{
    constexpr Word first = 0x01000000, near = 0x017FF000, far = 0xBFFFF000;
    if (!wish.latency) return;
    Agent *other = agent(Kind::large);
    for (const Word copies : {59u, 60u, 61u, 62u}) {
        Agent *a = agent(Kind::large);
        if (!other || !a) return;
        give_page(a, 0, first, L4_FullyAccessible);
        give_page(a, 0, copies & 1 ? near : far, L4_FullyAccessible);
        CHECK(derive(a, first, other, copies));
        ask(a, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0x40);
        CHECK(faults_on_read(other, base));
        remove(a);
    }
}

/// Sends two fpages, each to a place of its own.
Word do_send_two(Word to, Word first, Word other)
{
    for (Word i = 0; i < 2; i++) {
        const L4_Fpage_t fpage = {.raw = i ? other : first};
        const L4_MapItem_t item = L4_MapItem(fpage, i ? far_base : to_base);
        L4_LoadMR(static_cast<int>(1 + 2 * i), item.raw[0] | (i == 0));
        L4_LoadMR(static_cast<int>(2 + 2 * i), item.raw[1]);
    }
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 4u << 6});
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}
/// The same of a message: its second item has the last page of a table, for a place without one.
void map_past_tables()
{
    constexpr Word last = 0x203FF000;
    if (!wish.latency) return;
    Agent *a = agent(Kind::large), *other = agent(Kind::large);
    for (const Word copies : {54u, 55u}) {
        Agent *b = agent(Kind::large);
        if (!a || !other || !b) return;
        give_page(a, 0, base, L4_FullyAccessible);
        give_page(a, 0, last, L4_FullyAccessible);
        give_page(b, 1, to_base, L4_FullyAccessible);
        CHECK(derive(b, to_base, other, copies));
        begin(b, do_take_anywhere, a->id.raw);
        ask(a, do_send_two, b->id.raw, region(12).raw, (L4_FpageLog2(last, 22) + L4_FullyAccessible).raw);
        CHECK_EQUAL(a->out.value, 0);
        CHECK_EQUAL(finish(b).value, 0);
        CHECK(!faults_on_read(b, far_base + last % table_bytes));
        remove(b);
    }
}

/// Sends a page to a place behind each size of a slot.
Word do_give_growing(Word to, Word first, Word last)
{
    Word items = 0;
    for (Word at = first; at <= last; at *= 2, items++) {
        const L4_MapItem_t item = L4_MapItem(region(12), at + mb);
        L4_LoadMR(static_cast<int>(1 + 2 * items), item.raw[0] | (2 * at <= last));
        L4_LoadMR(static_cast<int>(2 + 2 * items), item.raw[1]);
    }
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2 * items << 6});
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}
/// A message whose items each take the receiver past its slot: it gets one that is larger each time.
void items_that_outgrow_slots()
{
    constexpr Word first = 16 * mb, last = 256 * mb;
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *a = agent(Kind::large), *b = agent(Kind::large), *beside = agent(Kind::large);
    if (!beside) return;
    CHECK(make_small(beside, 1));
    give(a, L4_FpageLog2(arena_page(0), first_log2) + L4_FullyAccessible, 0, region(first_log2, 0));
    for (Word at = first; at <= last; at *= 2) {
        give_page(b, 0, at + mb, L4_FullyAccessible);
        ask(b, do_flush, page_at(at + mb, L4_FullyAccessible).raw, 0x40);
    }
    for (Word at = table_bytes; at < first; at += table_bytes) give_page(b, 0, at, L4_FullyAccessible);
    ask(b, do_flush, (L4_FpageLog2(reinterpret_cast<Word>(do_nothing) & -mb, 20) + L4_FullyAccessible).raw, 0x40);
    ask(b, do_nothing);
    for (int i = 0; i < 8 && cobnut::tag_of(b->id).size_mb != 16; i++) {
        make_large(b);
        CHECK(cobnut::leave_to_kernel(b->id));
    }
    begin(b, do_take_anywhere, a->id.raw);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    begin(a, do_give_growing, b->id.raw, first, last);
    finish(a);
    CHECK_EQUAL(finish(b).value, 0);
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
}

constexpr Word most_ports = 256, singles = 0x8000, block = 0x9000, inside = block + 0x80;

/// Single ports that do not lie side by side, and a block of them.
bool give_ports(Agent *a, Word first, Word count, bool and_block)
{
    for (Word n = 0; a && n < count; n++) give(a, L4_IoFpageLog2(first + 2 * n, 0), 0, L4_CompleteAddressSpace);
    if (a && and_block) give(a, L4_IoFpageLog2(block, 8), 0, L4_CompleteAddressSpace);
    return a;
}
Word do_send_page_and_port(Word to, Word, Word)
{
    const L4_MapItem_t page = L4_MapItem(region(12), to_base);
    const L4_GrantItem_t port = L4_GrantItem(L4_IoFpageLog2(inside, 0), 0);
    L4_LoadMR(1, page.raw[0] | 1), L4_LoadMR(2, page.raw[1]);
    L4_LoadMR(3, port.raw[0]), L4_LoadMR(4, port.raw[1]);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 4u << 6});
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}
/// A message's first item has used up what may be done without an interrupt, nearly; the second one grants a port out
/// of the middle of a block, and both have as many mappings of ports as can be.
void map_ports_behind_pages()
{
    if (!wish.latency) return;
    Agent *other = agent(Kind::large);
    for (const Word copies : {53u, 54u, 55u}) {
        Agent *a = agent(Kind::large), *b = agent(Kind::large);
        if (!other || !give_ports(a, singles, most_ports - 5, true) ||
            !give_ports(b, singles + 1, most_ports - 2, false))
            return;
        give_page(a, 0, base, L4_FullyAccessible);
        give_page(b, 1, to_base, L4_FullyAccessible);
        CHECK(derive(b, to_base, other, copies));
        begin(b, do_take_anywhere, a->id.raw);
        ask(a, do_send_page_and_port, b->id.raw);
        CHECK_EQUAL(a->out.value, 0);
        CHECK_EQUAL(finish(b).value, 0);
        remove(a);
        remove(b);
    }
}

} // namespace

const Test stretch_tests[] = {
    {"latency.answer_over_others", answer_over_others},
    {"latency.message_behind_a_message", message_behind_a_message},
    {"latency.unmap_past_tables", unmap_past_tables},
    {"latency.map_past_tables", map_past_tables},
    {"latency.map_ports_behind_pages", map_ports_behind_pages},
    {"latency.items_that_outgrow_slots", items_that_outgrow_slots},
    {nullptr, nullptr},
};

} // namespace x2test
