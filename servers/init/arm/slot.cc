// SPDX-License-Identifier: BSD-2-Clause
// The process id register moves a space's lowest 32 MB to one of the slots of that size (docs/x2-arm.md: SpaceControl's
// control word). The kernel chooses which; descriptions say nothing of it.
#include "../slot.h"

#include <l4/space.h>

namespace init {
namespace {

constexpr Word slot_mask = 0x7F, slot_mb = 32;

} // namespace

Slot slot_of(L4_ThreadId_t thread)
{
    Word control = 0;
    L4_SpaceControl(thread, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &control);
    const Word slot = control & slot_mask;
    return {slot * slot_mb, slot ? slot_mb : 0, false};
}

void make_slot(L4_ThreadId_t, const Description &) {}

} // namespace init
