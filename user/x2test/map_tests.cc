// SPDX-License-Identifier: BSD-2-Clause
// Map and grant items (manual 5.2, 5.3): where pages go, and with which rights.
#include "harness.h"

namespace x2test {
namespace {

constexpr Word mark = 0x600D0000;

void one_page()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give_page(a, 3, free_area, L4_FullyAccessible);
    CHECK_EQUAL(seen(a, free_area), mark + 3);
    CHECK(!faults_on_write(a, free_area));
    CHECK_EQUAL(arena_word(3), 0x5A5A5A5A);
    CHECK_EQUAL(seen(a, free_area + page_size), faulted);
}

/// Fpage smaller than the window: SndBase modulo the window's size says where.
void into_larger_window()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give(a, page_at(arena_page(2), L4_FullyAccessible), 0x7FF03C00, L4_FpageLog2(free_area, 16));
    CHECK_EQUAL(seen(a, free_area + 0x3000), mark + 2);
    give(a, L4_FpageLog2(arena_page(4), 14) + L4_FullyAccessible, 0xABCD9000, L4_FpageLog2(free_area, 16));
    for (Word i = 0; i < 4; i++) CHECK_EQUAL(seen(a, free_area + 0x8000 + i * page_size), mark + 4 + i);
    CHECK_EQUAL(seen(a, free_area + 0xC000), faulted);
}

/// Fpage larger than the window: SndBase modulo the fpage's size says which part.
void into_smaller_window()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give(a, L4_FpageLog2(arena_page(0), 16) + L4_FullyAccessible, 0x12345C00, page_at(free_area, 0));
    CHECK_EQUAL(seen(a, free_area), mark + 5);
    give(a, L4_FpageLog2(arena_page(0), 16) + L4_FullyAccessible, 0x0000B000, L4_FpageLog2(free_area + 0x4000, 14));
    for (Word i = 0; i < 4; i++) CHECK_EQUAL(seen(a, free_area + 0x4000 + i * page_size), mark + 8 + i);
    CHECK_EQUAL(seen(a, free_area + 0x8000), faulted);
}

void into_complete_window()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give(a, page_at(arena_page(9), L4_FullyAccessible), free_area + 0x5000, L4_CompleteAddressSpace);
    CHECK_EQUAL(seen(a, free_area + 0x5000), mark + 9);
}

void read_only()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_Readable);
    CHECK_EQUAL(seen(a, free_area), mark);
    const Outcome &out = ask(a, do_write, free_area + 8, 1);
    CHECK_EQUAL(out.faults, 1);
    CHECK(out.write_fault());
    CHECK_EQUAL(out.fault_address, free_area + 8);
    CHECK_EQUAL(arena_word(0), mark);
}

/// No space can pass on more rights than it has.
void rights_are_anded()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 1, free_area, L4_ReadeXecOnly);
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area + page_size, 0)));
    CHECK_EQUAL(seen(b, free_area + page_size), mark + 1);
    CHECK(faults_on_write(b, free_area + page_size));
    CHECK_EQUAL(arena_word(1), mark + 1);
}

/// The same mapping once more adds rights.
void rights_grow()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_Readable);
    CHECK_EQUAL(seen(a, free_area), mark);
    give_page(a, 0, free_area, L4_FullyAccessible);
    CHECK(!faults_on_write(a, free_area));
    give_page(a, 0, free_area, L4_Readable);
    CHECK(!faults_on_write(a, free_area));
}

void nil_fpage_maps_nothing()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    give(a, L4_Nilpage, free_area, L4_CompleteAddressSpace);
    CHECK(faults_on_read(a, free_area));
}

void holes_stay()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_FullyAccessible);
    give_page(a, 2, free_area + 2 * page_size, L4_FullyAccessible);
    give_page(b, 7, free_area + page_size, L4_FullyAccessible); // lies under a hole: survives
    CHECK(pass(a, b, L4_FpageLog2(free_area, 14) + L4_FullyAccessible, 0, L4_FpageLog2(free_area, 14)));
    CHECK_EQUAL(seen(b, free_area), mark);
    CHECK_EQUAL(seen(b, free_area + page_size), mark + 7);
    CHECK_EQUAL(seen(b, free_area + 2 * page_size), mark + 2);
    CHECK_EQUAL(seen(b, free_area + 3 * page_size), faulted);
}

void replaces_other_page()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 0, free_area, L4_FullyAccessible);
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area, 0)));
    CHECK_EQUAL(seen(b, free_area), mark);
    give_page(a, 1, free_area, L4_FullyAccessible);
    CHECK_EQUAL(seen(a, free_area), mark + 1);
    CHECK_EQUAL(seen(b, free_area), faulted); // derived from what went away
}

Word do_receive_two(Word, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_FpageLog2(free_area, 16)));
    const L4_MsgTag_t tag = L4_Receive_Timeout(main_id, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return tag.raw;
}
void two_items()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    begin(a, do_receive_two);
    L4_Msg_t msg;
    L4_Clear(&msg);
    L4_Append(&msg, 0xCAFEu);
    L4_Append(&msg, L4_MapItem(page_at(arena_page(5), L4_FullyAccessible), 0x1000));
    L4_Append(&msg, L4_MapItem(page_at(arena_page(6), L4_FullyAccessible), 0x2000));
    L4_Load(&msg);
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
    CHECK_EQUAL(finish(a).value, 4u << 6 | 1);
    CHECK_EQUAL(seen(a, free_area + 0x1000), mark + 5);
    CHECK_EQUAL(seen(a, free_area + 0x2000), mark + 6);
}

/// The receiver sees the item as it was sent, with the C bit of the last one clear.
Word do_receive_item(Word window, Word word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_Fpage_t{.raw = window}));
    const L4_MsgTag_t tag = L4_Receive_Timeout(main_id, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    Word w;
    L4_StoreMR(static_cast<int>(word), &w);
    return L4_IpcFailed(tag) ? 0 : w;
}
void item_words_arrive()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    for (Word word = 1; word <= 2; word++) {
        begin(a, do_receive_item, page_at(free_area, 0).raw, word);
        const L4_Fpage_t f = page_at(arena_page(1), L4_Readable);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
        L4_LoadMR(1, 0x00005000 | 9); // C set: ignored on sending
        L4_LoadMR(2, f.raw);
        CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
        CHECK_EQUAL(finish(a).value, word == 1 ? 0x00005008 : f.raw);
    }
}

void kip_and_utcbs_are_left_out()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(mark);
    give(a, page_at(arena_page(0), L4_FullyAccessible), kip_area, L4_CompleteAddressSpace);
    give(a, page_at(arena_page(0), L4_FullyAccessible), a->utcb_area, L4_CompleteAddressSpace);
    CHECK_EQUAL(seen(a, kip_area), L4_KernelMagic);
    Agent *b = agent(Kind::other);
    if (!b) return;
    CHECK(pass(a, b, page_at(kip_area, L4_FullyAccessible), 0, page_at(free_area, 0)));
    CHECK(faults_on_read(b, free_area));
    CHECK(pass(a, b, page_at(a->utcb_area, L4_FullyAccessible), 0, page_at(free_area, 0)));
    CHECK(faults_on_read(b, free_area));
}

void grant_moves()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 4, free_area, L4_FullyAccessible);
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area + page_size, 0), true));
    CHECK_EQUAL(seen(b, free_area + page_size), mark + 4);
    CHECK_EQUAL(seen(a, free_area), faulted);
    L4_Unmap(page_at(arena_page(4), L4_FullyAccessible)); // main is the one it derives from now
    CHECK_EQUAL(seen(b, free_area + page_size), faulted);
}

/// What the granter had mapped on stays, now derived from the new owner.
void grant_keeps_children()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other), *child = agent(Kind::other);
    if (!a || !b || !child) return;
    mark_arena(mark);
    give_page(a, 4, free_area, L4_FullyAccessible);
    CHECK(pass(a, child, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area, 0)));
    CHECK(pass(a, b, page_at(free_area, L4_FullyAccessible), 0, page_at(free_area, 0), true));
    CHECK_EQUAL(seen(child, free_area), mark + 4);
    ask(b, do_flush, page_at(free_area, L4_FullyAccessible).raw, 0);
    CHECK_EQUAL(seen(child, free_area), faulted);
    CHECK_EQUAL(seen(b, free_area), mark + 4);
}

/// A page handed to and fro, each time to a new address: the chain may end with an overflow, but not before depth 8,
/// and all of it goes when its root goes.
void deep_chain()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    mark_arena(mark);
    give_page(a, 3, free_area, L4_FullyAccessible);
    Word depth = 0;
    while (depth < 100) {
        Agent *from = depth % 2 ? b : a, *to = depth % 2 ? a : b;
        const Word source = free_area + depth * page_size, target = source + page_size;
        if (!pass(from, to, page_at(source, L4_FullyAccessible), 0, page_at(target, 0))) break;
        depth++;
    }
    CHECK(depth >= 8);
    Agent *last = depth % 2 ? b : a;
    CHECK_EQUAL(seen(last, free_area + depth * page_size), mark + 3);
    L4_Unmap(page_at(arena_page(3), L4_FullyAccessible));
    for (Word i = 0; i <= depth; i++) CHECK(faults_on_read(i % 2 ? b : a, free_area + i * page_size));
}

/// In one space a map item does nothing, and nothing breaks.
void map_within_space()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    mark_arena(mark);
    give(a, page_at(arena_page(0), L4_FullyAccessible), arena_page(1), L4_CompleteAddressSpace);
    CHECK_EQUAL(arena_word(0), mark);
}

} // namespace

const Test map_tests[] = {
    {"map.one_page", one_page},
    {"map.into_larger_window", into_larger_window},
    {"map.into_smaller_window", into_smaller_window},
    {"map.into_complete_window", into_complete_window},
    {"map.read_only", read_only},
    {"map.rights_are_anded", rights_are_anded},
    {"map.rights_grow", rights_grow},
    {"map.nil_fpage_maps_nothing", nil_fpage_maps_nothing},
    {"map.holes_stay", holes_stay},
    {"map.replaces_other_page", replaces_other_page},
    {"map.two_items", two_items},
    {"map.item_words_arrive", item_words_arrive},
    {"map.kip_and_utcbs_are_left_out", kip_and_utcbs_are_left_out},
    {"map.grant_moves", grant_moves},
    {"map.grant_keeps_children", grant_keeps_children},
    {"map.deep_chain", deep_chain},
    {"map.within_space", map_within_space},
    {nullptr, nullptr},
};

} // namespace x2test
