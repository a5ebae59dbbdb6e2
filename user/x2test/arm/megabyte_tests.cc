// SPDX-License-Identifier: BSD-2-Clause
// Pages of a megabyte whose parts are not alike: every other one has been written to, or taken by another space. With
// latency=1, under the laboratory.
#include "../harness.h"

namespace x2test {
namespace {

constexpr Word mb = 1u << 20, parts = mb / page_size;
constexpr Word everywhere = 0x40000000, elsewhere = everywhere + 16 * mb; // neither is relocated

Word do_read_parts(Word first, Word step, Word count)
{
    Word sum = 0;
    for (; count; count--, first += step) sum += *reinterpret_cast<const volatile Word *>(first);
    return sum;
}
Word do_write_parts(Word first, Word step, Word count)
{
    for (; count; count--, first += step) *reinterpret_cast<volatile Word *>(first + 4) = count;
    return 0;
}

/// A megabyte that `owner` has, and maps to the others: to the last one at another address, to those before it at its
/// own, which is a region. A space that writes to every other part takes these from the last one, which has read all.
struct Striped {
    Agent *owner = nullptr, *mate = nullptr, *last = nullptr;
    bool good = false;

    explicit Striped(bool shared)
    {
        if (!(owner = agent(Kind::other)) || !(last = agent(Kind::other))) return;
        if (shared && !(mate = agent(Kind::other))) return;
        const L4_Fpage_t whole = own_memory(20) + L4_FullyAccessible;
        const L4_Fpage_t its = L4_FpageLog2(everywhere, 20) + L4_FullyAccessible;
        give(owner, L4_GrantItem(whole, 0).raw[0], whole.raw, its);
        good = (!mate || pass(owner, mate, its, 0, its)) && pass(owner, last, its, 0, L4_FpageLog2(elsewhere, 20));
    }
    void stripe()
    {
        ask(last, do_read_parts, elsewhere, page_size, parts);
        for (int round = 0; mate && round < 2; round++) {
            ask(owner, do_read_parts, everywhere, 2 * page_size, parts / 2);
            ask(mate, do_read_parts, everywhere, 2 * page_size, parts / 2);
        }
        ask(owner, do_write_parts, everywhere, 2 * page_size, parts / 2);
        if (mate) ask(mate, do_write_parts, everywhere, 2 * page_size, parts / 2);
    }
    ~Striped()
    {
        Agent *const all[] = {owner, mate, last};
        for (Agent *one : all)
            if (one) remove(one);
    }
};

void striped_megabyte()
{
    constexpr bool ways[] = {false, true};
    constexpr Word controls[] = {0, 0x40}, taken[] = {L4_NoAccess, L4_Writable, L4_FullyAccessible};
    if (!wish.latency) return;
    for (const bool shared : ways)
        for (const Word control : controls) {
            Striped striped(shared);
            if (!striped.good) return fail("no megabyte");
            for (const Word rights : taken) {
                if (rights != L4_FullyAccessible) striped.stripe();
                ask(striped.owner, do_flush, (L4_FpageLog2(everywhere, 20) + rights).raw, control);
            }
            CHECK(faults_on_read(striped.last, elsewhere));
        }
    for (const bool shared : ways) {
        Striped striped(shared);
        if (!striped.good) return fail("no megabyte");
        striped.stripe();
        ask(striped.owner, do_flush, (L4_FpageLog2(everywhere, 20) + L4_FullyAccessible).raw, 0x40);
        CHECK(faults_on_read(striped.last, elsewhere));
    }
    for (const bool shared : ways) {
        Striped striped(shared);
        if (!striped.good) return fail("no megabyte");
        striped.stripe(); // and all of it goes with its spaces
    }
}

/// Such a megabyte is granted to where there is another one.
void granted_stripes()
{
    constexpr bool ways[] = {false, true};
    if (!wish.latency) return;
    for (const bool shared : ways)
        for (const bool target_shared : ways) {
            Striped striped(shared), target(target_shared);
            if (!striped.good || !target.good) return fail("no megabyte");
            striped.stripe();
            target.stripe();
            const L4_Fpage_t its = L4_FpageLog2(everywhere, 20);
            Agent *giver = shared ? striped.mate : striped.owner;
            CHECK(pass(giver, target.owner, its + L4_FullyAccessible, 0, its, true));
            CHECK_EQUAL(ask(target.owner, do_read, everywhere + 4).value, parts / 2);
        }
}

/// One of a region's members writes to a page that none of them has been granted, but others at as many places as can
/// be: it is taken from these, and granted to all members. Then the others read again.
void written_in_region()
{
    constexpr Word members = 16, places = 17, page = everywhere + page_size;
    if (!wish.latency) return;
    Agent *all[members], *reader = agent(Kind::other);
    if (!reader) return;
    for (Word n = 0; n < places; n++) give_page(reader, 1, elsewhere + n * page_size, L4_FullyAccessible);
    for (Agent *&one : all) {
        if (!(one = agent(Kind::other))) return;
        for (Word n = 0; n < 2; n++) give_page(one, n, everywhere + n * page_size, L4_FullyAccessible);
    }
    for (Word round = 0; round < 3; round++) {
        for (Agent *one : all) ask(one, do_read_parts, everywhere, page_size, 1);
        ask(reader, do_read_parts, elsewhere, page_size, places);
        for (Word n = round; n < members; n += 5) {
            ask(all[n], do_write, page, n);
            CHECK_EQUAL(ask(reader, do_read, elsewhere).value, n);
            ask(reader, do_read_parts, elsewhere, page_size, places);
        }
    }
}

} // namespace

const Test megabyte_tests[] = {
    {"latency.striped_megabyte", striped_megabyte},
    {"latency.granted_stripes", granted_stripes},
    {"latency.written_in_region", written_in_region},
    {nullptr, nullptr},
};

} // namespace x2test
