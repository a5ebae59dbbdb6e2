// SPDX-License-Identifier: BSD-2-Clause
#include "core/account.hpp"

#include "core/memory.hpp"

namespace memory {

Account kernel{0, unlimited};
Word accounts = 1;

namespace {

// The free memory is compared first: not all processors can divide.
bool in_share(Word bytes) {
    Word reserve = pages_total() / reserve_part, unused = pages_unused();
    Word more = unused > reserve ? (unused - reserve) * share_of_unused * page_size : 0;
    return bytes <= more || bytes <= reserve * page_size / accounts;
}

}  // namespace

bool Account::charge(Word bytes) {
    Word after = used + bytes;
    if (limit ? after > limit : !in_share(after)) return false;
    used = after;
    return true;
}

}  // namespace memory
