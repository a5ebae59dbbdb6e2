// SPDX-License-Identifier: BSD-2-Clause
// Megabytes that are granted whole, by one of the spaces that share them: to a space that moves to another slot for it,
// and to one with or without a page table there.
#include "../harness.h"

namespace x2test {
namespace {

constexpr Word mb = 1u << 20, slot_bytes = 32 * mb;
constexpr Word everywhere = 0x80000000; ///< not relocated, and in no slot of a SA-1110
constexpr Word shared_at = 0x70000000;
constexpr Word most_sections = 64, regions = 4, some_slot = 50;

Word do_read_some(Word first, Word step, Word count)
{
    Word sum = 0;
    for (; count; count--, first += step) sum += *reinterpret_cast<const volatile Word *>(first);
    return sum;
}
Word do_write_some(Word first, Word step, Word count)
{
    for (; count; count--, first += step) *reinterpret_cast<volatile Word *>(first + 4) = count;
    return 0;
}
Word do_take_all_of_it(Word from, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}
/// Grants the shared megabyte to an address of the receiver's.
Word do_grant(Word to, Word address, Word)
{
    const L4_Fpage_t f = L4_FpageLog2(shared_at, 20) + L4_FullyAccessible;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, L4_GrantItem(f, address).raw[0]);
    L4_LoadMR(2, f.raw);
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}
/// The number of the slot that it is in, of the one that is asked for if that can be; 0: none.
Word slot_of(const Agent *a, Word wanted = 0)
{
    Word word = 0;
    L4_SpaceControl(a->id, wanted ? L4_SmallSpaceChange | wanted : 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &word);
    if (wanted) return slot_of(a);
    return word & 0x7F;
}

/// A space with a page in each of as many megabytes as its domain stands in, and in regions with another one.
struct Wide {
    Agent *a, *mate;
    Wide() : a(agent(Kind::other)), mate(agent(Kind::other))
    {
        if (!good()) return;
        for (Word i = 0; i < most_sections; i++) give_page(a, i % arena_pages, everywhere + i * mb, L4_FullyAccessible);
        for (Word i = 0; i < regions; i++) {
            give_page(a, i, everywhere + (most_sections + i) * mb, L4_FullyAccessible);
            give_page(mate, i, everywhere + (most_sections + i) * mb, L4_FullyAccessible);
        }
        again();
    }
    bool good() const { return a && mate; }
    void again() const
    {
        for (int round = 0; round < 3; round++) {
            ask(a, do_read_some, everywhere + most_sections * mb, mb, regions);
            ask(mate, do_read_some, everywhere + most_sections * mb, mb, regions);
        }
        ask(a, do_read_some, everywhere, mb, most_sections);
    }
    ~Wide()
    {
        if (a) remove(a);
        if (mate) remove(mate);
    }
};

/// A megabyte that up to two spaces have written to, in turn: a region of theirs.
struct Shared {
    static constexpr Word most = 2;
    Agent *all[most] = {};
    Word count;

    Shared(Word members, Word first) : count(members)
    {
        const L4_Fpage_t whole = own_memory(20), there = L4_FpageLog2(shared_at, 20);
        for (Word i = 0; i < count; i++) all[i] = agent(Kind::other);
        if (!good() || L4_IsNilFpage(whole)) {
            fail("no agents, or no megabyte");
            return;
        }
        give(all[0], whole + L4_FullyAccessible, 0, there);
        if (count > 1 && !pass(all[0], all[1], there + L4_FullyAccessible, 0, there)) fail("not passed on");
        for (Word round = 0; round < 2; round++)
            for (Word i = 0; i < count; i++)
                ask(all[(first + i) % count], do_write_some, shared_at, page_size, mb / page_size);
    }
    bool good() const { return all[0] && (count == 1 || all[1]); }
    ~Shared()
    {
        for (Agent *a : all)
            if (a) remove(a);
    }
};

/// Whether `to` gets the megabyte from that member of the region.
bool is_granted(const Shared &shared, Word granter, Agent *to, Word address)
{
    begin(to, do_take_all_of_it, shared.all[granter]->id.raw);
    ask(shared.all[granter], do_grant, to->id.raw, address);
    return finish(to).value == 0 && ask(to, do_read, address + 4).value == mb / page_size && !to->out.faults;
}

/// Into the slot of the receiver, which has a page in as many megabytes as its domain stands in: it moves.
void megabyte_granted_with_a_move()
{
    for (Word members = 1; members <= Shared::most; members++)
        for (Word granter = 0; granter < members; granter++) {
            const Wide wide;
            const Shared shared(members, granter + 1);
            if (!wide.good() || !shared.good()) return;
            wide.again();
            const Word slot = slot_of(wide.a, some_slot);
            if (!slot) return; // a kernel without tags
            CHECK(is_granted(shared, granter, wide.a, slot * slot_bytes + 3 * mb));
            CHECK(slot_of(wide.a) != slot);
        }
}

/// The first of the spaces that share it grants it, to where there is a page table or none.
void granted(bool to_a_table)
{
    for (Word granter = 0; granter < Shared::most; granter++)
        for (Word first = 0; first < Shared::most; first++) {
            Agent *to = agent(Kind::other);
            if (!to) return;
            if (to_a_table) {
                give_page(to, 3, shared_at + mb - page_size, L4_FullyAccessible);
                ask(to, do_read, shared_at + mb - page_size);
                L4_UnmapFpage(page_at(arena_page(3), L4_FullyAccessible));
            }
            {
                const Shared shared(Shared::most, first);
                if (!shared.good()) return;
                CHECK(is_granted(shared, granter, to, shared_at));
            }
            remove(to);
        }
}
void megabyte_granted_to_no_table() { granted(false); }
void megabyte_granted_to_a_table() { granted(true); }

} // namespace

const Test grant_tests[] = {
    {"latency.megabyte_granted_with_a_move", megabyte_granted_with_a_move},
    {"latency.megabyte_granted_to_no_table", megabyte_granted_to_no_table},
    {"latency.megabyte_granted_to_a_table", megabyte_granted_to_a_table},
    {nullptr, nullptr},
};

} // namespace x2test
