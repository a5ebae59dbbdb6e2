// SPDX-License-Identifier: BSD-2-Clause
// Accounts of kernel memory: what each space holds of it, and how much more it may take (docs/kernel-memory.md).
#pragma once

#include "core/check.hpp"
#include "core/x2.hpp"

namespace memory {

struct Account {
    Word used;          // bytes
    Word limit;         // bytes; 0: a share of what is left

    // Charges the account if it may take so much more.
    bool charge(Word bytes);
    // Charges it unconditionally: for objects that another space's operation adds to what it holds.
    void overdraw(Word bytes) { used += bytes; }
    void credit(Word bytes) {
        check(used >= bytes);
        used -= bytes;
    }
};

// The limit that stands for no limit.
constexpr Word unlimited = ~page_mask;
// Without a limit: one in `reserve_part` of all memory is a reserve, shared equally by all spaces; beyond its share of
// that a space may hold `share_of_unused` times what is free outside the reserve.
constexpr Word reserve_part = 8, share_of_unused = 8;
// How many accounts share the reserve.
extern Word accounts;

// The kernel's own: spaces as such, the thread table, tables that several spaces share, the trace.
extern Account kernel;

}  // namespace memory
