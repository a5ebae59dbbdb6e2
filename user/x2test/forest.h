// SPDX-License-Identifier: BSD-2-Clause
// A great many pages that are all derived from a few: what makes operations of the kernel long.
#ifndef COBNUT_X2TEST_FOREST_H
#define COBNUT_X2TEST_FOREST_H
#include "harness.h"

namespace x2test {

inline constexpr Word base = 0x10000000, first_log2 = 16; ///< of the pages that all others are derived from
inline constexpr Word doublings = 10, whole_log2 = first_log2 + doublings;
inline constexpr Word whole_pages = 1u << (whole_log2 - 12);
inline constexpr Word many_pages = whole_pages + whole_pages / 2; ///< derived ones: left has a whole, right half of one

inline L4_Fpage_t region(Word log2, Word rights = L4_FullyAccessible)
{
    return L4_FpageLog2(base, static_cast<int>(log2)) + rights;
}

/// An agent with main's arena at `base`, and two others between which its pages are mapped to and fro until there are
/// very many, all derived from those of the first.
struct Forest {
    Agent *root, *left, *right;

    /// `elder` gets the first pages before the others do, `copies` times in a row.
    explicit Forest(Agent *elder = nullptr, Word copies = 0)
        : root(agent(Kind::large)), left(agent(Kind::large)), right(agent(Kind::large))
    {
        if (!complete()) return;
        give(root, L4_FpageLog2(arena_page(0), first_log2) + L4_FullyAccessible, 0, region(first_log2, 0));
        bool good = true;
        for (Word i = 0; i < copies; i++)
            good = good && pass(root, elder, region(first_log2), 0, L4_FpageLog2(base + (i << first_log2), first_log2));
        good = good && pass(root, left, region(first_log2), 0, region(first_log2, 0));
        for (Word log2 = first_log2; log2 < whole_log2; log2++)
            good = good && pass(left, right, region(log2), 0, region(log2, 0)) &&
                   pass(right, left, region(log2), 0, L4_FpageLog2(base + (1u << log2), static_cast<int>(log2)));
        if (!good) fail("the forest does not grow");
    }
    bool complete() const { return root && left && right; }
    bool gone() const
    {
        return faults_on_read(left, base + (1u << whole_log2) - page_size) && faults_on_read(right, base);
    }
};

/// Deletes a thread; for agents in main's space.
inline Word do_delete(Word id, Word, Word)
{
    return L4_ThreadControl(L4_ThreadId_t{.raw = id}, L4_nilthread, L4_nilthread, L4_nilthread,
                            reinterpret_cast<void *>(-1));
}

/// Loads a message of map items with the pages of the forest, for the send base `at`: one half more than once, since
/// what is there already takes much longer than what is not.
inline void load_all(Word at)
{
    constexpr Word items = 4;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2 * items << 6});
    for (Word i = 0; i < items; i++) {
        const L4_MapItem_t item = L4_MapItem(region(i + 1 < items ? whole_log2 - 1 : whole_log2), at);
        L4_LoadMR(static_cast<int>(2 * i + 1), item.raw[0] | (i + 1 < items));
        L4_LoadMR(static_cast<int>(2 * i + 2), item.raw[1]);
    }
}

/// Sends the pages of the forest.
inline Word do_give_all(Word to, Word, Word)
{
    load_all(0);
    const L4_MsgTag_t tag = L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

inline constexpr Word to_base = 0x30000000; ///< where they are received

inline Word do_take_all(Word from, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_FpageLog2(to_base, static_cast<int>(whole_log2))));
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

} // namespace x2test
#endif
