// SPDX-License-Identifier: BSD-2-Clause
// How often a controller does what.
#include "../family.h"

namespace stress {

/// Spaces live long enough to share pages in every way, and run by turns at the same addresses.
void Family::one_of_calm()
{
    if (visiting()) return;
    const Word dice = random_.below(64);
    if (dice < 1 && random_.once_in(2)) return begin_visits();
    if (dice < 2 && random_.once_in(2)) return use_megabyte();
    if (dice < 16) return access_any();
    if (dice < 17) return replace_code();
    if (dice < 23) return call_any_page();
    if (dice < 25) return copy_string();
    if (dice < 27) return rewrite_code();
    if (dice < 28) return change_attribute();
    if (dice < 30) return share();
    if (dice < 36) return map_from_root();
    if (dice < 42) return map_from_peer(false);
    if (dice < 45) return map_from_peer(true);
    if (dice < 49) return widen();
    if (dice < 52) return unmap_from_root();
    if (dice < 56) return unmap_by_worker();
    if (dice < 59) return call_peer();
    if (dice < 61) return change_threads();
    if (dice < 62) return query();
    if (dice < 63) return run_code();
    check_root(random_.below(pages));
}

/// Slots and spaces change hands.
void Family::one_of_change(Word space)
{
    if (visiting()) return;
    const Word dice = random_.below(64);
    if (dice < 13) return access_any();
    if (dice < 14) return lose_when_moved();
    if (dice < 17) return call_any_page();
    if (dice < 18) return write_unnoticed();
    if (dice < 19) return reach_behind_utcbs();
    if (dice < 20) return number();
    if (dice < 21) {
        if (random_.once_in(8)) return use_many_megabytes();
        return random_.once_in(2) ? use_megabyte() : share_in_the_middle();
    }
    if (dice < 23) return map_from_root();
    if (dice < 26) return map_from_peer(random_.once_in(2));
    if (dice < 29) return unmap_from_root();
    if (dice < 32) return unmap_by_worker();
    if (dice < 42) return regroup();
    if (dice < 46) return exchange();
    if (dice < 47) return delete_unborn();
    if (dice < 62) return delete_space(space);
    change_threads();
}

} // namespace stress
