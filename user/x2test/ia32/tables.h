// SPDX-License-Identifier: BSD-2-Clause
// Agents with many page tables, and agents that call each other, for the tests of latency.
#ifndef COBNUT_X2TEST_IA32_TABLES_H
#define COBNUT_X2TEST_IA32_TABLES_H

#include "../harness.h"

namespace x2test {

inline constexpr Word mb = 1u << 20, table_bytes = 4 * mb;

/// A page in each of many tables of an agent.
inline bool give_tables(Agent *a, Word first, Word end)
{
    for (Word at = first; a && at < end; at += table_bytes) give_page(a, 0, at, L4_FullyAccessible);
    return a;
}

/// For begin(): calls `to` again and again.
inline Word do_call_for_ever(Word to, Word, Word)
{
    for (;;) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
        L4_Call(L4_ThreadId_t{.raw = to});
    }
}

} // namespace x2test
#endif
