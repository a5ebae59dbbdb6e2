// SPDX-License-Identifier: BSD-2-Clause
// What a controller does at random to PID slots (docs/x2-arm.md, SpaceControl's control word), and what has to come of
// it. A slot's size counts as 1 MB here, its number as the place.
#include "../family.h"

#include <l4/space.h>

namespace stress {
namespace {

constexpr Word slot_mask = 0x7F;
constexpr Word slot_log2 = 25;  // 32 MB

} // namespace

/// A page of the space has come to be at `address`: if that is in its slot, it is moved to another.
void Family::reached(Word space, Word address)
{
    Space &s = spaces_[space];
    if (s.tag == Tag::slot && s.slot.size_mb && address >> slot_log2 == s.slot.offset_mb) s.tag = Tag::automatic;
}

/// The addresses of a space's slot are other names of those below 32 MB.
bool Family::reachable(Word space, Word place)
{
    const slots::Slot slot = check_tag(space);
    return !slot.size_mb || place_address(place) >> slot_log2 != slot.offset_mb;
}

/// Where the kernel says that the space is: where it was asked to be.
slots::Slot Family::check_tag(Word space)
{
    Word control = 0;
    L4_SpaceControl(worker(space, any_thread(space)).id, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &control);
    const Word found = control & slot_mask;
    const Space &s = spaces_[space];
    if (s.tag == Tag::slot && found != s.slot.offset_mb)
        fail("space %u is in slot %u, not in %u", space, found, s.slot.offset_mb);
    return {found, found != 0};
}

/// Moves a space to a slot, or out of one; false if the kernel does not.
bool Family::move(Word space, Word wanted)
{
    const slots::Slot before = check_tag(space);
    Word control = 0;
    L4_SpaceControl(worker(space, any_thread(space)).id, L4_SmallSpaceChange | wanted, L4_Nilpage, L4_Nilpage,
                    L4_nilthread, &control);
    const bool done = control & L4_SmallSpaceChange;
    if (const Word wrong = control & slot_mask; wrong != (done ? wanted : before.offset_mb))
        fail("space %u is in slot %u after slot %u, %u was asked for", space, wrong, before.offset_mb, wanted);
    if (!done) return false;
    Space &s = spaces_[space];
    s.tag = Tag::slot;
    s.slot = {wanted, 1};
    count[made_small] += before.size_mb == 0 && wanted;
    count[made_large] += before.size_mb != 0 && !wanted;
    count[resizes] += before.offset_mb != wanted;
    if (wanted && slots::move_in(s.slot, s.incarnation)) count[slot_reuses]++;
    check_tag(space);
    return true;
}

/// To another slot, or to none.
void Family::regroup()
{
    const Word space = random_.below(spaces);
    if (!spaces_[space].alive()) return;
    if (move(space, random_.once_in(4) ? 0 : 1 + random_.below(slots_asked))) count[regroups]++;
}

/// A slot that no other space is moved to.
Word Family::home(Word space) const { return 2 * slots_asked + 1 + index_ * spaces + space; }

/// Two spaces have a slot in turn, and use it.
void Family::exchange()
{
    constexpr Word rounds = 16;
    const Word wanted = 1 + random_.below(slots_asked), place = random_.below(places - unrelocated_places);
    Word space = random_.below(spaces), other = any_space_but(space);
    if (!spaces_[space].alive() || !spaces_[other].alive()) return;
    for (Word round = 0; round < rounds; round++) {
        if (!move(space, wanted)) return;
        if (model_.permits(node_of(space, place), false)) call_page(node_of(space, place));
        if (!move(space, home(space))) return;
        const Word next = other;
        other = space;
        space = next;
    }
}

void Family::query()
{
    const Word space = random_.below(spaces);
    if (spaces_[space].alive()) check_tag(space);
}

} // namespace stress
