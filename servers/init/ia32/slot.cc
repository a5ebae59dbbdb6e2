// SPDX-License-Identifier: BSD-2-Clause
// Small spaces: segments at a slot of any power of two from 1 MB on.
#include "../slot.h"

#include <cobnut/tags.h>

namespace init {

Slot slot_of(L4_ThreadId_t thread)
{
    const cobnut::Tag tag = cobnut::tag_of(thread);
    return {tag.offset_mb, tag.size_mb, tag.bound};
}

void make_slot(L4_ThreadId_t thread, const Description &d)
{
    const bool named = d.slot_mb && d.slot_offset_mb != ~0u;
    if (d.large || named) {
        Word old = 0;
        const Word name = named ? L4_SmallSpace(d.slot_offset_mb, d.slot_mb) : 0;
        L4_SpaceControl(thread, L4_SmallSpaceChange | name, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    } else if (d.slot_mb) {
        cobnut::give_slot(thread, static_cast<unsigned>(__builtin_ctz(d.slot_mb)));
    }
}

} // namespace init
