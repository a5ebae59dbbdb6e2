// SPDX-License-Identifier: BSD-2-Clause
// How often a controller does what.
#include "family.h"

namespace stress {

/// Spaces live long enough to share pages in every way.
void Family::one_of_calm()
{
    const Word dice = random_.below(64);
    if (dice < 25) return access_any();
    if (dice < 26) return change_attribute();
    if (dice < 33) return map_from_root();
    if (dice < 40) return map_from_peer(false);
    if (dice < 43) return map_from_peer(true);
    if (dice < 48) return widen();
    if (dice < 51) return unmap_from_root();
    if (dice < 55) return unmap_by_worker();
    if (dice < 56) return demote();
    if (dice < 57) return regroup();
    if (dice < 59) return call_peer();
    if (dice < 61) return change_threads();
    if (dice < 62) return query();
    if (dice < 63) return run_code();
    check_root(random_.below(pages));
}

/// Slots and spaces change hands.
void Family::one_of_change(Word space)
{
    const Word dice = random_.below(64);
    if (dice < 10) return access_any();
    if (dice < 11) return succeed_bound();
    if (dice < 13) return map_from_root();
    if (dice < 15) return map_from_peer(random_.once_in(2));
    if (dice < 17) return unmap_from_root();
    if (dice < 19) return unmap_by_worker();
    if (dice < 24) return demote();
    if (dice < 27) return resize();
    if (dice < 29) return grow();
    if (dice < 33) return succeed();
    if (dice < 38) return revoke();
    if (dice < 44) return regroup();
    if (dice < 53) return promote();
    if (dice < 62) return delete_space(space);
    if (dice < 63) return change_threads();
    random_.once_in(2) ? delete_host() : demote_host();
}

} // namespace stress
