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
    // Charges it in any case: for what somebody else's operation makes of an object that it holds already.
    void overdraw(Word bytes) { used += bytes; }
    void credit(Word bytes) {
        check(used >= bytes);
        used -= bytes;
    }
};

// A limit that is none.
constexpr Word unlimited = ~page_mask;
// Without a limit: a part of all memory is a reserve, of which each space has an equal part for itself; beyond that
// part it may hold so many times what is left outside the reserve.
constexpr Word reserve_part = 8, share_of_unused = 8;
// How many have a part of the reserve.
extern Word accounts;

// The kernel's own: spaces as such, the thread table, tables that several spaces share, the trace.
extern Account kernel;

}  // namespace memory
