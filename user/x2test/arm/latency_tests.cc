// SPDX-License-Identifier: BSD-2-Clause
// How many instructions the kernel takes at worst for what it does in one piece, with interrupts off, where a user has
// made that as long as it can. With the option latency=1 only: where time follows the instruction count, 8 ns each.
#include "../forest.h"

#include <cobnut/program.h>
#include <l4/schedule.h>

namespace x2test {
namespace {

constexpr Word mb = 1u << 20, slot_bytes = 32 * mb;
constexpr Word per_microsecond = 125, limit = 20000; ///< instructions
constexpr Word everywhere = 0x40000000;              ///< not relocated

Word clock() { return static_cast<Word>(L4_SystemClock().raw); }

/// How long one access takes, its fault included if the kernel grants it by itself.
Word do_timed_write(Word address, Word value, Word)
{
    const Word before = clock();
    *reinterpret_cast<volatile Word *>(address) = value;
    return clock() - before;
}
Word do_timed_read(Word address, Word, Word)
{
    const Word before = clock();
    const Word seen = *reinterpret_cast<const volatile Word *>(address);
    return clock() - before + (seen & 0);
}
Word do_read_all(Word first, Word step, Word count)
{
    Word sum = 0;
    for (; count; count--, first += step) sum += *reinterpret_cast<const volatile Word *>(first);
    return sum;
}

void judge(const char *what, Word microseconds)
{
    cobnut::print("latency: %s %u\n", what, microseconds * per_microsecond);
    CHECK(microseconds * per_microsecond < limit);
}

Word worst_of(Word a, Word b) { return a > b ? a : b; }

/// All of the arena, `times` in a row from `to` on.
void give_arena(Agent *a, Word to, Word times)
{
    for (Word i = 0; i < times; i++, to += 0x10000)
        give(a, L4_FpageLog2(arena_page(0), 16) + L4_FullyAccessible, 0, L4_FpageLog2(to, 16));
}

/// A page that a space has at very many addresses, or many spaces have, and another space wants to write to.
void shared_page()
{
    constexpr Word times = 64, members = 12;
    if (!wish.latency) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    give_arena(a, everywhere, times);
    give_page(b, 0, everywhere, L4_FullyAccessible);
    for (Word i = 0; i < members; i++) {
        Agent *one = agent(Kind::other);
        if (!one) return;
        give_page(one, 0, everywhere + i * mb, L4_FullyAccessible);
        ask(one, do_read, everywhere + i * mb);
    }
    ask(a, do_read_all, everywhere, 0x10000, times);
    Word worst = ask(b, do_timed_write, everywhere, 1).value;
    CHECK_EQUAL(b->out.faults, 0);
    for (Word i = 0; i < 4; i++) worst = worst_of(worst, ask(a, do_timed_read, everywhere + i * 0x10000).value);
    ask(a, do_read_all, everywhere, 0x10000, times);
    worst = worst_of(worst, ask(b, do_timed_write, everywhere, 2).value);
    CHECK_EQUAL(ask(a, do_read, everywhere + (times - 1) * 0x10000).value, 2);
    judge("shared_page", worst);
}

Word timed_give(Agent *a, Word to)
{
    const Word before = clock();
    give_page(a, 1, to, L4_FullyAccessible);
    return clock() - before;
}

constexpr Word low = 16 * mb; ///< relocated

/// How long it takes to map a page that moves a space with pages below 32 MB to another slot, or to access one of those
/// again. All of them have been accessed before.
Word move_with(Word times)
{
    Agent *a = agent(Kind::other);
    if (!a) return 0;
    Word word = 0;
    L4_SpaceControl(a->id, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &word);
    give_arena(a, low, times);
    ask(a, do_read_all, low, page_size, times * 16);
    ask(a, do_write, low + 64, 0x0DE);
    Word worst = timed_give(a, (word & 0x7F) * slot_bytes + 8 * mb);
    for (Word i = 0; i < 4; i++) worst = worst_of(worst, ask(a, do_timed_read, low + i % times * 0x10000).value);
    if (ask(a, do_read, low + 64).value != 0x0DE) fail("a moved space has lost a word");
    remove(a);
    return worst;
}

/// What it is longer by for a space with very many pages than for one with few: else it is several ways through the
/// kernel.
void moved_space()
{
    if (!wish.latency) return;
    const Word few = move_with(1), many = move_with(255);
    judge("moved_space", many > few ? many - few : 0);
}

/// A space that goes had the same few frames in several megabytes, and another one at many places since.
void deleted_sharer()
{
    constexpr Word tables = 4, times = 13;
    if (!wish.latency) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    for (Word i = 0; i < tables; i++) give_arena(a, everywhere + i * mb, 1);
    for (Word i = 0; i < tables; i++) ask(a, do_read_all, everywhere + i * mb, page_size, arena_pages);
    give_arena(b, everywhere, times);
    ask(b, do_read_all, everywhere, page_size, times * arena_pages);
    remove(a);
    CHECK_EQUAL(ask(b, do_read, everywhere).faults, 0);
}

constexpr Word others = 18; ///< more than there are domains
Word worst_call_of_others(Agent *a, Agent *const (&other)[others], Word megabytes)
{
    Word worst = 0;
    for (Word round = 0; round < 4; round++) {
        ask(a, do_read_all, everywhere, mb, megabytes);
        for (Agent *one : other) {
            const Word before = clock();
            ask(one, do_nothing);
            worst = worst_of(worst, clock() - before);
        }
    }
    return worst;
}

/// A space with a page in each of very many megabytes has its domain taken away. A call's time is that of several ways
/// through the kernel: what it is longer by than where the space has a few pages is of that one.
void many_megabytes()
{
    constexpr Word few = 4, many = 800;
    if (!wish.latency) return;
    Agent *a = agent(Kind::other), *other[others];
    if (!a) return;
    for (Word i = 0; i < many; i++) give_page(a, i % arena_pages, everywhere + i * mb, L4_FullyAccessible);
    for (Agent *&one : other)
        if (!(one = agent(Kind::other))) return;
    const Word usual = worst_call_of_others(a, other, few), worst = worst_call_of_others(a, other, many);
    judge("many_megabytes", worst > usual ? worst - usual : 0);
}

/// A megabyte that as many spaces share as can, and one more; what one of them does to a page concerns them all.
void shared_megabyte()
{
    constexpr Word members = 17;
    if (!wish.latency) return;
    Agent *all[members];
    Word worst = 0;
    for (Agent *&one : all) {
        if (!(one = agent(Kind::other))) return;
        give_arena(one, everywhere, 1);
        ask(one, do_read_all, everywhere, page_size, 16);
    }
    for (Word round = 0; round < 3; round++)
        for (Agent *one : all) {
            worst = worst_of(worst, ask(one, do_timed_read, everywhere).value);
            worst = worst_of(worst, ask(one, do_timed_write, everywhere + round * page_size, round).value);
        }
    judge("shared_megabyte", worst);
}

/// A megabyte that ten spaces share, with one page at all of its places, and another space wants to write to that page.
void shared_places()
{
    constexpr Word members = 10, places = 256;
    if (!wish.latency) return;
    Agent *all[members], *other = agent(Kind::other);
    if (!other) return;
    for (Agent *&one : all)
        if (!(one = agent(Kind::other))) return;
    for (Word i = 0; i < places; i++) give_page(all[0], 0, everywhere + i * page_size, L4_FullyAccessible);
    const L4_Fpage_t whole = L4_FpageLog2(everywhere, 20) + L4_FullyAccessible;
    for (Word i = 1; i < members; i++) CHECK(pass(all[0], all[i], whole, 0, whole));
    give_page(other, 0, everywhere + mb, L4_FullyAccessible);
    Word worst = 0;
    for (Word round = 0; round < 3; round++) {
        for (Agent *one : all) ask(one, do_read, everywhere);
        for (Agent *one : all)
            worst = worst_of(worst, ask(one, do_timed_read, everywhere + (round + 1) * page_size).value);
        ask(all[round], do_read_all, everywhere, page_size, places);
        worst = worst_of(worst, ask(other, do_timed_write, everywhere + mb, round).value);
        CHECK_EQUAL(other->out.faults, 0);
        CHECK_EQUAL(ask(all[round + 3], do_read, everywhere + (places - 1) * page_size).value, round);
    }
    judge("shared_places", worst);
}

/// A megabyte that is one page: it is granted, taken, granted to others and unmapped as one.
void large_page()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    const L4_Fpage_t f = own_memory(20);
    if (!a || !b || L4_IsNilFpage(f)) return;
    Word worst = 0;
    Agent *const both[] = {a, b};
    for (Agent *one : both) {
        give(one, f + L4_FullyAccessible, 0, L4_FpageLog2(everywhere + (one == b ? 16 * mb : 0), 20));
        const Word at = everywhere + (one == b ? 16 * mb : 0);
        worst = worst_of(worst, ask(one, do_timed_read, at).value);
        worst = worst_of(worst, ask(one, do_timed_write, at, 1).value);
    }
    const Word before = clock();
    L4_UnmapFpage(f + L4_FullyAccessible);
    const Word took = clock() - before;
    CHECK(faults_on_read(a, everywhere));
    judge("large_page", worst_of(worst, took / 2)); // there is a preemption point between two pages
}

/// How long it takes to map a part of a page on that very many have, and to grant one, which makes smaller pages of it,
/// and of all as large that were derived from it. Beyond what an answer with a page takes.
Word split_of(unsigned log2)
{
    constexpr Word times = 120, part = 4 * page_size, elsewhere = 0x60000000;
    const L4_Fpage_t f = own_memory(static_cast<int>(log2));
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b || L4_IsNilFpage(f)) return 0;
    const L4_Fpage_t one = L4_FpageLog2(L4_Address(f) + part, 12) + L4_FullyAccessible;
    Word worst = 0;
    timed_give(a, elsewhere - page_size);
    // there already: several ways through the kernel, and no more
    const Word usual = timed_give(a, elsewhere - page_size);
    for (Word i = 0; i < times; i++) {
        give(a, f + L4_FullyAccessible, 0, L4_FpageLog2(everywhere + (i << log2), log2));
        if (!i) continue; // the next one is the last that has it in one piece
        const Word before = clock();
        give(a, one, 0, L4_FpageLog2(elsewhere + i * page_size, 12));
        worst = worst_of(worst, clock() - before);
    }
    const Word before = clock();
    give(b, L4_GrantItem(one, 0).raw[0], one.raw, L4_FpageLog2(everywhere, 12));
    worst = worst_of(worst, clock() - before);
    ask(a, do_write, everywhere + part, log2);
    if (ask(b, do_read, everywhere).value != log2) fail("a part that was granted is another one");
    L4_UnmapFpage(f + L4_FullyAccessible);
    return worst > usual ? worst - usual : 0;
}

void split_page()
{
    if (!wish.latency) return;
    // a megabyte becomes 64 KB, and with another budget one of those 4 KB
    judge("split_page", worst_of(split_of(16), split_of(20) / 2));
}

Word do_take_all_there_is(Word from, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// The first page at `everywhere` to so many places, in one message.
constexpr Word most_places = 31;
constinit Word place[most_places] = {};
Word do_give_to_places(Word to, Word places, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2 * places << 6});
    for (Word n = 0; n < places; n++) {
        const L4_MapItem_t item = L4_MapItem(page_at(everywhere, L4_FullyAccessible), place[n]);
        L4_LoadMR(static_cast<int>(1 + 2 * n), item.raw[0] | (n + 1 < places));
        L4_LoadMR(static_cast<int>(2 + 2 * n), item.raw[1]);
    }
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}

/// The slot of a space. `control`: bit 31 and another slot.
Word slot_of(const Agent *a, Word control = 0)
{
    Word word = 0;
    L4_SpaceControl(a->id, control, L4_Nilpage, L4_Nilpage, L4_nilthread, &word);
    return word & 0x7F;
}

/// Each item of a message is mapped into the slot where the receiver has just been moved to, and it has pages in nearly
/// all others: the last four are free.
void own_slots()
{
    constexpr Word left_free = 4, change = 1u << 31, most_slots = 104, fewer_slots = 64;
    if (!wish.latency || wish.spaces) return; // other spaces have slots, too: which ones are left is not known then
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b || !slot_of(b)) return;
    const Word slots = slot_of(a, change | (most_slots - 1)) == most_slots - 1 ? most_slots : fewer_slots;
    slot_of(a, change | 1);
    give_page(a, 0, everywhere, L4_FullyAccessible);
    for (Word s = 2; s < slots - left_free; s++) give_page(b, 1, s * slot_bytes + 31 * mb, L4_FullyAccessible);
    CHECK_EQUAL(slot_of(b), slots - left_free);
    for (Word n = 0; n < left_free; n++) place[n] = (slots - left_free + n) * slot_bytes + 31 * mb;
    begin(b, do_take_all_there_is, a->id.raw);
    begin(a, do_give_to_places, b->id.raw, left_free);
    CHECK_EQUAL(finish(a).value, 0);
    CHECK_EQUAL(finish(b).value, 0);
    CHECK_EQUAL(slot_of(b), 0); // none is left
    CHECK_EQUAL(ask(b, do_read, place[left_free - 1]).value, arena_word(0));
}

Word do_give_range(Word to, Word fpage, Word)
{
    const L4_MapItem_t item = L4_MapItem(L4_Fpage_t{.raw = fpage} + L4_FullyAccessible, 0);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}

/// A few pages, more and more of them; then page tables without pages; then two gigabytes without tables.
void far_apart(bool map, Word tables)
{
    constexpr Word most = 15, far = 0xBFF00000;
    if (!wish.latency) return;
    for (Word pages = 8; pages < most; pages++) {
        Agent *a = agent(Kind::other), *b = agent(Kind::other);
        if (!a || !b) return;
        for (Word i = 1; i <= tables; i++) give_page(a, most, everywhere + i * mb, L4_FullyAccessible);
        L4_Unmap(page_at(arena_page(most), L4_FullyAccessible));
        for (Word i = 0; i < pages; i++) give_page(a, i, everywhere + i * page_size, L4_FullyAccessible);
        give_page(a, 0, far, L4_FullyAccessible);
        ask(a, do_read_all, everywhere, page_size, pages);
        if (map) {
            begin(b, do_take_all_there_is, a->id.raw);
            begin(a, do_give_range, b->id.raw, L4_CompleteAddressSpace.raw);
            CHECK_EQUAL(finish(a).value, 0);
            CHECK_EQUAL(finish(b).value, 0);
            CHECK_EQUAL(ask(b, do_read, far).faults, 0);
        } else {
            ask(a, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0x40);
            CHECK(faults_on_read(a, far));
        }
        remove(a);
        remove(b);
    }
}
void map_far_apart() { far_apart(true, 0); }
void map_past_tables() { far_apart(true, 3); }
void unmap_far_apart() { far_apart(false, 0); }
void unmap_past_tables() { far_apart(false, 3); }

/// The receiver needs a page table for each of many pages.
void map_apart()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    give_page(a, 0, everywhere, L4_FullyAccessible);
    for (Word n = 0; n < most_places; n++) place[n] = everywhere + (n + 1) * mb;
    begin(b, do_take_all_there_is, a->id.raw);
    begin(a, do_give_to_places, b->id.raw, most_places);
    CHECK_EQUAL(finish(a).value, 0);
    CHECK_EQUAL(finish(b).value, 0);
}

void forest_unmapped(Word log2, Word rights, Word control)
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    ask(forest.left, do_read_all, base, page_size, whole_pages);
    ask(forest.root, do_write, base, 1);
    ask(forest.left, do_write, base, 1);
    ask(forest.root, do_flush, region(log2, rights).raw, control);
}
void unmap_tree() { forest_unmapped(first_log2, L4_FullyAccessible, 0); }
void unmap_status() { forest_unmapped(first_log2, L4_NoAccess, 0); }
void unmap_write() { forest_unmapped(first_log2, L4_Writable, 0); }
void map_range()
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    begin(forest.root, do_take_all, forest.left->id.raw);
    begin(forest.left, do_give_all, forest.root->id.raw);
    finish(forest.left), finish(forest.root);
    // Once more, over what is there.
    begin(forest.root, do_take_all, forest.left->id.raw);
    begin(forest.left, do_give_all, forest.root->id.raw);
    finish(forest.left), finish(forest.root);
}

/// A megabyte that some spaces have, in pieces of that size. The first one has mapped it to the others.
struct Shared {
    static constexpr Word most = 3;
    Agent *all[most] = {};
    L4_Fpage_t whole = L4_Nilpage;
    Word members;
    bool good = false;

    Shared(Word count, int log2) : members(count)
    {
        for (Word i = 0; i < members; i++)
            if (!(all[i] = agent(Kind::other))) return;
        whole = own_memory(20);
        good = !L4_IsNilFpage(whole);
        for (Word at = 0; good && at < mb; at += 1u << log2) {
            const L4_Fpage_t there = L4_FpageLog2(everywhere + at, log2);
            give(all[0], L4_FpageLog2(L4_Address(whole) + at, log2) + L4_FullyAccessible, 0, there);
            for (Word i = 1; i < members && good; i++)
                good = pass(all[0], all[i], there + L4_FullyAccessible, 0, there);
        }
    }
    ~Shared()
    {
        for (Agent *one : all)
            if (one) remove(one);
    }
};

constexpr int sizes[] = {12, 16, 20};

Word do_write_all(Word first, Word step, Word count)
{
    for (; count; count--, first += step) *reinterpret_cast<volatile Word *>(first + 4) = count;
    return 0;
}

/// The first one, or who gave it to that, takes it back, and before that the status and the right to write.
void revoked_megabyte()
{
    static constexpr Word taken[] = {L4_NoAccess, L4_Writable, L4_FullyAccessible};
    if (!wish.latency) return;
    for (Word members = 2; members <= Shared::most; members++)
        for (int log2 : sizes)
            for (Word flush = 0; flush < 2; flush++) {
                const Shared shared(members, log2);
                if (!shared.good) return;
                for (Word rights : taken) {
                    const bool written = rights != L4_FullyAccessible;
                    for (Word round = 0; round < 2; round++)
                        for (Word i = 0; i < members; i++)
                            ask(shared.all[i], written ? do_write_all : do_read_all, everywhere, page_size,
                                mb / page_size);
                    const L4_Fpage_t whole = L4_FpageLog2(flush ? everywhere : L4_Address(shared.whole), 20) + rights;
                    if (flush) ask(shared.all[0], do_flush, whole.raw, 0x40);
                    else L4_UnmapFpage(whole);
                }
                for (Word i = 0; i < members; i++) CHECK(faults_on_read(shared.all[i], everywhere));
            }
}

Word do_run(Word address, Word, Word)
{
    reinterpret_cast<void (*)()>(address)();
    return 0;
}

/// The last of them runs code there when the others have accessed all of it.
void fetched_megabyte()
{
    constexpr Word code = everywhere + 64; // no line that is written to afterwards
    if (!wish.latency) return;
    for (Word members = 2; members <= Shared::most; members++)
        for (int log2 : sizes) {
            const Shared shared(members, log2);
            if (!shared.good) return;
            ask(shared.all[0], do_write, code, 0xE1A0F00E); // mov pc, lr
            ask(shared.all[0], do_flush, L4_FpageLog2(everywhere, 20).raw, 0);
            for (Word round = 0; round < 2; round++)
                for (Word i = 0; i + 1 < members; i++)
                    ask(shared.all[i], do_write_all, everywhere, page_size, mb / page_size);
            CHECK_EQUAL(ask(shared.all[members - 1], do_run, code).faults, 0);
        }
}

/// One of those that share it grants it to another one, which has another megabyte there.
void granted_megabyte()
{
    if (!wish.latency) return;
    const Shared shared(3, 20), others(1, 20);
    if (!shared.good || !others.good) return;
    for (Word round = 0; round < 2; round++)
        for (Agent *one : shared.all) ask(one, do_write_all, everywhere, page_size, mb / page_size);
    ask(others.all[0], do_write_all, everywhere, page_size, mb / page_size);
    const L4_Fpage_t there = L4_FpageLog2(everywhere, 20);
    CHECK(pass(shared.all[1], others.all[0], there + L4_FullyAccessible, 0, there, true));
    CHECK_EQUAL(ask(others.all[0], do_read, everywhere + 4).value, mb / page_size);
}

/// A message of two items: a megabyte where the receiver has another one, and a part of it where that is then.
void megabyte_and_part(int part)
{
    if (!wish.latency) return;
    static constexpr Word megabytes[] = {0, 1, 16};
    for (Word after : megabytes) {
        Agent *a = agent(Kind::other);
        const L4_Fpage_t old = own_memory(20);
        const L4_Fpage_t fresh = own_memory(20);
        if (!a || L4_IsNilFpage(old) || L4_IsNilFpage(fresh)) return;
        give(a, old + L4_FullyAccessible, 0, L4_FpageLog2(everywhere, 20));
        ask(a, do_write_all, everywhere, page_size, mb / page_size);
        begin(a, do_take_all_there_is, main_id.raw);
        const L4_MapItem_t first = L4_MapItem(fresh + L4_FullyAccessible, everywhere);
        const L4_Fpage_t its = L4_FpageLog2(L4_Address(fresh), part) + L4_FullyAccessible;
        const L4_MapItem_t second_one = L4_MapItem(its, everywhere + after * mb);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 4u << 6});
        L4_LoadMR(1, first.raw[0] | 1);
        L4_LoadMR(2, first.raw[1]);
        L4_LoadMR(3, second_one.raw[0]);
        L4_LoadMR(4, second_one.raw[1]);
        CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
        CHECK_EQUAL(finish(a).value, 0);
        CHECK_EQUAL(ask(a, do_read, everywhere + after * mb).faults, 0);
        remove(a);
    }
}
void megabyte_and_page() { megabyte_and_part(12); }
void megabyte_and_more() { megabyte_and_part(16); }

/// In one call; `from`: or nilthread.
Word do_give_and_take(Word to, Word fpage, Word from)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    const L4_Fpage_t f = {.raw = fpage};
    const L4_MapItem_t item = L4_MapItem(f + L4_FullyAccessible, L4_Address(f));
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    L4_ThreadId_t partner;
    const L4_MsgTag_t tag =
        L4_Ipc(L4_ThreadId_t{.raw = to}, L4_ThreadId_t{.raw = from}, L4_Timeouts(second, second), &partner);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// A call sends a part of a large page and receives one from a sender that waits: two messages, each of which makes
/// small pages of as many large ones as there may be.
void part_for_another()
{
    if (!wish.latency) return;
    constexpr Word there = everywhere + 16 * mb;
    Agent *a = agent(Kind::other), *b = agent(Kind::other), *c = agent(Kind::other), *d = agent(Kind::other);
    const L4_Fpage_t one = own_memory(16);
    const L4_Fpage_t other = own_memory(16);
    if (!a || !b || !c || !d || L4_IsNilFpage(one) || L4_IsNilFpage(other)) return;
    give(a, one + L4_FullyAccessible, 0, L4_FpageLog2(everywhere, 16));
    give(d, one + L4_FullyAccessible, 0, L4_FpageLog2(everywhere, 16));
    give(b, other + L4_FullyAccessible, 0, L4_FpageLog2(there, 16));
    give(d, other + L4_FullyAccessible, 0, L4_FpageLog2(there, 16));
    ask(a, do_write, everywhere, 0xA);
    ask(b, do_write, there, 0xB);
    begin(b, do_give_and_take, a->id.raw, page_at(there, L4_FullyAccessible).raw, L4_nilthread.raw);
    begin(c, do_take_all_there_is, a->id.raw);
    pause(5000); // both wait for it
    begin(a, do_give_and_take, c->id.raw, page_at(everywhere, L4_FullyAccessible).raw, b->id.raw);
    CHECK_EQUAL(finish(a).value, 0);
    CHECK_EQUAL(finish(b).value, 0);
    CHECK_EQUAL(finish(c).value, 0);
    CHECK_EQUAL(ask(a, do_read, there).value, 0xB);
    CHECK_EQUAL(ask(c, do_read, everywhere).value, 0xA);
}

} // namespace

const Test latency_tests[] = {
    {"latency.own_slots", own_slots},
    {"latency.map_far_apart", map_far_apart},
    {"latency.map_past_tables", map_past_tables},
    {"latency.unmap_far_apart", unmap_far_apart},
    {"latency.unmap_past_tables", unmap_past_tables},
    {"latency.map_apart", map_apart},
    {"latency.map_range", map_range},
    {"latency.unmap_tree", unmap_tree},
    {"latency.unmap_status", unmap_status},
    {"latency.unmap_write", unmap_write},
    {"latency.shared_page", shared_page},
    {"latency.moved_space", moved_space},
    {"latency.deleted_sharer", deleted_sharer},
    {"latency.many_megabytes", many_megabytes},
    {"latency.shared_megabyte", shared_megabyte},
    {"latency.shared_places", shared_places},
    {"latency.large_page", large_page},
    {"latency.split_page", split_page},
    {"latency.revoked_megabyte", revoked_megabyte},
    {"latency.fetched_megabyte", fetched_megabyte},
    {"latency.granted_megabyte", granted_megabyte},
    {"latency.megabyte_and_page", megabyte_and_page},
    {"latency.megabyte_and_more", megabyte_and_more},
    {"latency.part_for_another", part_for_another},
    {nullptr, nullptr},
};

} // namespace x2test
