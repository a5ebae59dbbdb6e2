// SPDX-License-Identifier: BSD-2-Clause
#include "core/account.hpp"

#include "core/memory.hpp"

namespace memory {

Account kernel{0, unlimited};
Word accounts = 1;

namespace {

Word share() {
    Word reserve = pages_total() / reserve_part, unused = pages_unused();
    Word own = reserve * page_size / accounts;
    Word more = unused > reserve ? (unused - reserve) * share_of_unused * page_size : 0;
    return own > more ? own : more;
}

}  // namespace

bool Account::charge(Word bytes) {
    Word after = used + bytes;
    if (after > (limit ? limit : share())) return false;
    used = after;
    return true;
}

}  // namespace memory
