// SPDX-License-Identifier: BSD-2-Clause
// Megabytes that are mapped as one page, and lose parts; and pages in many. The model (model.h) does not know them:
// each scene begins with a whole one, and leaves nothing.
#include "../family.h"
#include "../worker.h"

#include <l4/misc.h>
#include <l4/sigma0.h>
#include <l4/space.h>

namespace stress {
namespace {

constexpr int mb_log2 = 20, kb64_log2 = 16, page_log2 = 12;
constexpr Word mb = 1u << mb_log2, flush = 0x40;
/// Where spaces get them, all the same: one place that is relocated, one that is not, and one of other spaces' slots.
constexpr Word places_of_megabytes[] = {0x00500000, 0x90000000, 0x04500000};
/// Of the root space: behind all families' pages.
constexpr Word memory_of(Word family) { return COBNUT_RAM_BASE + 0x01000000 + family * mb; }
/// Where in a megabyte something is written: what is near these places are parts that others lose.
constexpr Word offsets[] = {0x00000, 0x01000, 0x0F000, 0x10000, 0x57000, 0xFF000};
constexpr Word used = sizeof offsets / sizeof *offsets;
/// Where a space gets pages of more megabytes than may stand in the page directory with its domain
/// (kernel/arm/residents.cpp).
constexpr Word many_megabytes = 0x94000000, at_a_time = 64, many = at_a_time + 4, kept = 3;

L4_Fpage_t part(Word at, int log2, Word rights) { return L4_FpageLog2(at, log2) + rights; }
volatile Word &word_at(Word at) { return *reinterpret_cast<volatile Word *>(at); }

} // namespace

/// The family's megabyte in one piece, as sigma0 has it.
Word Family::whole_megabyte()
{
    const Word base = memory_of(index_);
    L4_Flush(part(base, mb_log2, all));
    if (L4_IsNilFpage(L4_Sigma0_GetPage(L4_nilthread, L4_FpageLog2(base, mb_log2))))
        fail("sigma0 has no megabyte at %08x", base);
    return base;
}

/// Maps it, or a part of it.
void Family::give_part(Word space, L4_Fpage_t f, Word to)
{
    const L4_MapItem_t item = L4_MapItem(f, to);
    const Word mr[] = {static_cast<Word>(nothing) << 16 | 2u << 6, item.raw[0], item.raw[1]};
    L4_LoadMRs(0, 3, mr);
    await(space, any_thread(space));
    reached(space, to);
}

/// One access to a word that holds `value`, or gets it. If it has to fault, it gets another page instead, and loses
/// that.
void Family::reach(Word space, Word address, bool writes, Word value, bool must_fault)
{
    const Word thread = any_thread(space);
    expected_ = {must_fault, false, nowhere, space, thread, address, writes, false};
    const Word found = writes ? ask(space, thread, do_write, address, value) : ask(space, thread, do_read, address);
    if (must_fault != expected_.happened)
        fail("space %u %s at %08x without a fault (%08x)", space, writes ? "writes" : "reads", address, found);
    const Node other = expected_.node;
    expected_ = {};
    if (!must_fault) {
        if (!writes && found != value) fail("space %u reads %08x at %08x, not %08x", space, found, address, value);
        return;
    }
    const Word page = model_.page(other);
    if (writes) wrote(other, value);
    else model_.accessed(other, false);
    if (!writes && found != value_[page]) fail("space %u reads %08x at %08x, not page %u", space, found, address, page);
    ask(space, thread, do_unmap, part(address, page_log2, all).raw, flush);
}

/// A space uses a page of each of many megabytes; those that have made room for others, another space has at once.
void Family::use_many_megabytes()
{
    const Word space = random_.below(spaces), other = any_space_but(space);
    if (!spaces_[space].alive() || !spaces_[other].alive()) return;
    const Word base = whole_megabyte();
    Word pages_used = 0;
    const auto use = [&](Word who, Word number) {
        const Word page = base + (pages_used++ << page_log2), at = many_megabytes + (number << mb_log2);
        const Word value = next_value();
        word_at(page) = value;
        give_part(who, part(page, page_log2, read | write), at);
        reach(who, at, false, value, false);
    };
    for (Word i = 0; i < many; i++) {
        use(space, i);
        if (i >= at_a_time) use(other, i - kept - 1);
    }
    L4_Flush(part(base, mb_log2, all));
    count[many_sections]++;
}

/// A space gets a megabyte, others have it or a part of it, and it loses that, or a part.
void Family::use_megabyte()
{
    const Word space = random_.below(spaces), peer = any_space_but(space);
    const Word at = places_of_megabytes[random_.below(3)],
               there = random_.once_in(2) ? at : places_of_megabytes[random_.below(3)];
    if (!spaces_[space].alive() || !spaces_[peer].alive()) return;
    const Word base = whole_megabyte();
    Word holds[used];
    for (Word i = 0; i < used; i++) word_at(base + offsets[i]) = holds[i] = next_value();
    give_part(space, part(base, mb_log2, read | write), at);
    const bool both = random_.once_in(2);
    const Word extent = random_.once_in(2) ? mb_log2 : kb64_log2;
    if (both) give_part(peer, part(base, static_cast<int>(extent), read | write), there);

    for (Word turns = 0; turns < 6; turns++) {
        const Word i = random_.below(used), dice = random_.below(8);
        const bool writes = random_.once_in(2);
        if (writes) holds[i] = next_value();
        if (dice == 0 && writes) word_at(base + offsets[i]) = holds[i];
        else if (dice == 0 && word_at(base + offsets[i]) != holds[i])
            fail("%08x holds %08x", base + offsets[i], word_at(base + offsets[i]));
        else if (dice < 3 && both && offsets[i] >> extent == 0)
            reach(peer, there + offsets[i], writes, holds[i], false);
        else if (dice) reach(space, at + offsets[i], writes, holds[i], false);
    }
    // Something is lost: all of it, 64 KB or 4 KB, at the root's wish or its own; or just writing.
    constexpr int sizes[] = {mb_log2, kb64_log2, page_log2};
    const int log2 = sizes[random_.below(3)];
    const Word i = random_.below(used), lost = offsets[i] & ~((1u << log2) - 1),
               taken = random_.once_in(3) ? Word{write} : Word{all};
    if (random_.once_in(4)) {
        if (!L4_Set_PageAttribute(part(base + lost, log2, 0), 1 + random_.below(4)))
            fail("a megabyte takes no attribute: error %u", L4_ErrorCode());
    } else if (random_.once_in(2)) {
        L4_UnmapFpage(part(base + lost, log2, taken));
        for (Word n = 0; n < used; n++)
            if (offsets[n] >> log2 == lost >> log2 && word_at(base + offsets[n]) != holds[n])
                fail("%08x has lost what it held", base + offsets[n]);
        reach(space, at + offsets[i], taken == write, taken == write ? next_value() : 0, true);
    } else {
        ask(space, any_thread(space), do_unmap, part(at + lost, log2, taken).raw, flush);
        reach(space, at + offsets[i], taken == write, taken == write ? next_value() : 0, true);
    }
    for (Word n = 0; n < used; n++) {
        if (offsets[n] >> log2 != lost >> log2) reach(space, at + offsets[n], false, holds[n], false);
        if (word_at(base + offsets[n]) != holds[n])
            fail("%08x holds %08x, not %08x", base + offsets[n], word_at(base + offsets[n]), holds[n]);
    }
    if (random_.once_in(2)) L4_Flush(part(base, mb_log2, all));
    ask(space, any_thread(space), do_unmap, part(at, mb_log2, all).raw, flush);
    ask(peer, any_thread(peer), do_unmap, part(there, mb_log2, all).raw, flush);
    count[megabytes]++;
}

} // namespace stress
