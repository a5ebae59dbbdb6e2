// SPDX-License-Identifier: BSD-2-Clause
#include "slots/groups.hpp"

#include "core/check.hpp"

namespace slots {

Members exclusives;

void enter(Space& space, Space* leader) {
    check(!of(space).leader && of(space).group.empty());
    of(space).leader = leader;
    holders(leader).push_back(space);
}

void leave(Space& space) {
    holders(of(space).leader).remove(space);
    of(space).leader = nullptr;
}

Space* next_of(Members& list) {
    Space* s = list.front();
    if (!s) return nullptr;
    list.remove(*s);
    list.push_back(*s);
    return s;
}

}  // namespace slots
