// SPDX-License-Identifier: BSD-2-Clause
#include "slots.h"

namespace stress::slots {
namespace {

constinit Word last_incarnation = 0;
constinit Word last_user[pool_mb / granule_mb] = {};

} // namespace

Word next_incarnation() { return ++last_incarnation; }

bool move_in(Word number, Word incarnation)
{
    bool reused = false;
    const Word first = (base_of(number) >> 20) / granule_mb;
    for (Word granule = first; granule < first + (size_of(number) >> 20) / granule_mb; granule++) {
        reused = reused || (last_user[granule] && last_user[granule] != incarnation);
        last_user[granule] = incarnation;
    }
    return reused;
}

} // namespace stress::slots
