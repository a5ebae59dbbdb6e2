// SPDX-License-Identifier: BSD-2-Clause
#include "movers.h"

#include "spaces.h"

#include <l4/schedule.h>

namespace attack {
namespace {

constexpr unsigned movers = 6, calls = 400; // at most; half of them call the other half
constexpr Word first_number = 20, director_number = 19;
// Within the slot that they start with, in the next longer one, and beyond all slots.
constexpr Word places[] = {0x00B00000, 0x01400000, 0x20000000};
constexpr unsigned place_count = sizeof places / sizeof *places;
constexpr Word harmed_label = 0x4A, low_priority = 20; // they run while the controller sleeps

alignas(4096) constinit unsigned char memory[movers][page_size] = {}, stacks[movers][page_size] = {},
                                      director_stack[page_size] = {};
constinit L4_ThreadId_t director = {};
constinit volatile bool harmed = false;

L4_ThreadId_t mover(unsigned n) { return L4_GlobalId(L4_ThreadNo(stage.controller) + first_number + n, 1); }

void set_label(Word label, Word word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | 1});
    L4_LoadMR(1, word);
}

/// Calls its partner many times, then the director, who gives it its page at another place: MR1 of the answer.
[[noreturn]] void caller_main()
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    while (take_order() != 0) {}
    const L4_ThreadId_t partner = L4_GlobalId(L4_ThreadNo(L4_MyGlobalId()) + 1, 1);
    Word label = 0;
    for (;;) {
        set_label(label, 0);
        L4_Call(director);
        Word place;
        L4_StoreMR(1, &place);
        for (unsigned i = 0; i < calls; i++) {
            L4_Set_MsgTag(L4_Niltag);
            L4_Call(partner);
            const auto *words = reinterpret_cast<volatile Word *>(place);
            if (words[i] != foreign_fill * 0x01010101u) label = harmed_label;
        }
    }
}

[[noreturn]] void called_main()
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    while (take_order() != 0) {}
    L4_ThreadId_t from;
    L4_Wait(&from);
    for (;;) {
        L4_Set_MsgTag(L4_Niltag);
        L4_ReplyWait(from, &from);
    }
}

[[noreturn]] void director_main()
{
    unsigned turns[movers] = {};
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        if (L4_Label(tag) == harmed_label) harmed = true;
        const unsigned n = L4_ThreadNo(from) - L4_ThreadNo(mover(0));
        const L4_Fpage_t page = L4_FpageLog2(reinterpret_cast<Word>(memory[n]), 12) + L4_FullyAccessible;
        const Word place = places[turns[n]++ % place_count];
        L4_Unmap(page);
        const L4_MapItem_t item = L4_MapItem(page, place);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6 | 1});
        L4_LoadMR(1, place);
        L4_LoadMR(2, item.raw[0]);
        L4_LoadMR(3, item.raw[1]);
        tag = L4_ReplyWait(from, &from);
    }
}

} // namespace

bool make_movers()
{
    director = L4_GlobalId(L4_ThreadNo(stage.controller) + director_number, 1);
    if (!start_beside(director, director_main, director_stack + page_size - 16, 2)) return false;
    // In pairs; in the smallest area so few that attackers get a slot now and then.
    const unsigned slots = stage.area_mb / slot_mb, wanted = slots < movers + 2 ? (slots - 2) & ~1u : movers;
    for (unsigned n = wanted; n-- > 0;) {
        for (unsigned char &byte : memory[n]) byte = foreign_fill;
        if (!make_space(mover(n), n % 2 ? called_main : caller_main, stacks[n] + page_size - 16)) return false;
        if (!L4_Set_Priority(mover(n), low_priority) || !L4_Set_Timeslice(mover(n), L4_TimePeriod(1000), L4_Never))
            return false;
    }
    return true;
}

bool movers_intact() { return !harmed; }

} // namespace attack
