// SPDX-License-Identifier: BSD-2-Clause
#include "slots.h"

namespace stress::slots {
namespace {

constinit Word last_incarnation = 0;
constinit Word last_user[area_most_mb] = {};

} // namespace

Word next_incarnation() { return ++last_incarnation; }

bool move_in(Slot slot, Word incarnation)
{
    bool reused = false;
    for (Word mb = slot.offset_mb; mb < slot.offset_mb + slot.size_mb; mb++) {
        reused = reused || (last_user[mb] && last_user[mb] != incarnation);
        last_user[mb] = incarnation;
    }
    return reused;
}

} // namespace stress::slots
