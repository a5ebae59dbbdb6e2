// SPDX-License-Identifier: BSD-2-Clause
#include "arm/relocation.hpp"

#include "arm/page_tables.hpp"
#include "arm/residents.hpp"
#include "core/check.hpp"

namespace relocation {
namespace {

using namespace page_tables;

constexpr Word slot_log2 = 25, control_change = 1u << 31, control_slot = 0x7f;
static_assert(1u << slot_log2 == relocated_end);

// Slot 0 is not owned: any number of spaces are not relocated.
Space* owner[SLOTS];

Word slot_of(const Space& space) { return space.arch.pid >> slot_log2; }

// A space cannot be relocated to a slot in which it has pages.
bool uses(const Space& space, Word slot) { return space.arch.slots_with_tables[slot / 32] >> slot % 32 & 1; }

bool usable(const Space& space, Word slot) { return !slot || (slot < SLOTS && !owner[slot] && !uses(space, slot)); }

Word lowest_free(const Space& space, VAddr page) {
    for (Word slot = 1; slot < SLOTS; ++slot)
        if (slot != page >> slot_log2 && usable(space, slot)) return slot;
    return 0;
}

// Grants below 32 MB were made at other addresses (aliases.hpp): each page table notes for which slot.
void move(Space& space, Word slot) {
    if (slot == slot_of(space)) return;
    check(slot < SLOTS && (!slot || !owner[slot]) && (!slot_of(space) || owner[slot_of(space)] == &space));
    host::leave_sections(space);
    owner[slot_of(space)] = nullptr;
    owner[slot] = slot ? &space : nullptr;
    space.arch.pid = slot << slot_log2;
}

}  // namespace

void consider(Space& space, VAddr page) {
    // An idempotent space needs all its addresses itself.
    if (space.idempotent) return;
    bool in_own_slot = slot_of(space) && page >> slot_log2 == slot_of(space);
    bool first = page < relocated_end && !space.arch.slot_chosen;
    if (!in_own_slot && !first) return;
    space.arch.slot_chosen = true;
    move(space, lowest_free(space, page));
}

void release(Space& space) {
    check(!slot_of(space) || owner[slot_of(space)] == &space);
    owner[slot_of(space)] = nullptr;
}

Word control(Space& space, Word word) {
    Word slot = word & control_slot, done = 0;
    if (word & control_change && !space.idempotent && (slot == slot_of(space) || usable(space, slot))) {
        move(space, slot);
        space.arch.slot_chosen = true;
        done = control_change;
    }
    return done | slot_of(space);
}

}  // namespace relocation
