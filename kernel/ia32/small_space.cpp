// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/small_space.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/memory.hpp"
#include "core/trace.hpp"
#include "ia32/cpu.hpp"
#include "ia32/hosts.hpp"
#include "ia32/page_tables.hpp"
#include "ia32/segments.hpp"
#include "slots/area.hpp"
#include "slots/groups.hpp"
#include "slots/policy.hpp"
#include "slots/port.hpp"

namespace small_space {
namespace {

using slots::SlotName;

constexpr unsigned mb_log2 = 20;
constexpr Word control_own = 1u << 28;

slots::Area area;
// The tables that exclusive slots below 4 MB share, by directory entry of the area.
PageTable* exclusive_tables[slots::area_max_mb / slots::granule_mb];

SlotName name_of(const Space& space) {
    const Slot& s = space.arch.slot;
    return s.small() ? SlotName{(s.base - area_start()) >> mb_log2, s.size >> mb_log2} : SlotName{0, 0};
}
Slot slot_of(SlotName name) { return {area_start() + (name.offset_mb << mb_log2), name.size_mb << mb_log2}; }

slots::SlotMap* map_of(Space* leader) { return leader ? &leader->arch.bound : nullptr; }

void set_segments(Space& space) {
    const Slot& slot = space.arch.slot;
    check(!slot.small() || (slot.base >= area_start() && slot.base < KERNEL_BASE));
    check(slot.size <= KERNEL_BASE - slot.base);
    check(!slot.small() || ((slot.base - area_start()) % slot.size == 0 && !(slot.size & (slot.size - 1))));
    Descriptor d = segments::code(segments::reach(space));
    space.arch.segment_low = d.low;
    space.arch.segment_high = d.high;
}

// Whether any slot lies in the directory entry of one that shares its entry.
bool table_in_use(Space* leader, SlotName name) {
    return leader ? leader->arch.bound.any(name.granules()) : area.exclusive(name.granules());
}

// The table shared by the slots in one directory entry of the area, allocated if there is none. nullptr: out of
// memory.
PageTable* take_table(Space* leader, SlotName name) {
    if (!leader) {
        PageTable*& table = exclusive_tables[name.offset_mb / slots::granule_mb];
        if (!table) table = static_cast<PageTable*>(memory::allocate_page(memory::kernel));
        return table;
    }
    if (!table_in_use(leader, name)) return static_cast<PageTable*>(memory::allocate_page(memory::kernel));
    // A directory entry that bound slots share is not one that a longer slot has.
    Word granule = slot_of(name).base >> 22;
    const Space* s = leader->arch.slots.group.front();
    while (s->arch.slot.base >> 22 != granule) s = leader->arch.slots.group.after(*s);
    return s->arch.shared_table;
}

void trace_slot(trace::Event event, const Space& space) {
    trace::event(event, ThreadId::nil(), trace::name(&space), space.arch.slot.base, space.arch.slot.size);
}

void free_table(Space& space, Space* leader, SlotName name) {
    if (!leader) exclusive_tables[name.offset_mb / slots::granule_mb] = nullptr;
    memory::free_page(space.arch.shared_table, memory::kernel);
}

// Drops the cached translations of a slot: if they are few, one by one, so that all others stay. The global bits of
// its entries are cleared when its tables are touched again (page_tables::match_global_bits).
void forget(const Space& space) {
    constexpr Word few_tables = 4, few_pages = 32;
    const Slot& slot = space.arch.slot;
    Word tables = 0, pages = 0;
    for (Word t = 0; t << 22 < slot.size; ++t) {
        if (!(space.arch.directory->entry[t] & page_tables::populated)) continue;
        if (++tables > few_tables) return page_tables::flush_all();
        const Word* entries = page_tables::table_at(space, t).entry;
        for (Word i = directory_entries; (i = page_tables::used(entries, i));) {
            if (++pages > few_pages) return page_tables::flush_all();
            cpu::invlpg(slot.base + (t << 22) + (--i << 12));
        }
    }
}

// `space` is large, and the slot is available.
bool enter_slot(Space& space, SlotName name, Space* leader) {
    check(!space.arch.slot.small() && !space.arch.slots.leader && space.arch.slots.group.empty() &&
          (!leader || !leader->arch.slot.small()));
    PageTable* table = nullptr;
    if (name.size_mb < slots::granule_mb && !(table = take_table(leader, name))) return false;
    // Its own directory will not be loaded any more: a translation cached under it would not be invalidated by
    // unmapping.
    if (processor.host == &space.arch.own) hosts::enter(hosts::kernel);
    area.take(name, map_of(leader));
    slots::enter(space, leader);
    space.arch.live_in(leader ? &leader->arch.own : nullptr);
    space.arch.slot = slot_of(name);
    space.arch.shared_table = table;
    page_tables::enter_slot(space);
    set_segments(space);
    trace_slot(trace::Event::slot_taken, space);
    return true;
}

// Whether no other space is in the way of a slot.
[[gnu::cold, gnu::noinline]] bool available_to(const Space& space, SlotName wanted, Space* leader) {
    if (!space.arch.slot.small()) return area.available(wanted, map_of(leader));
    slots::SlotMap* own = map_of(space.arch.slots.leader);
    area.release(name_of(space), own);
    bool available = area.available(wanted, map_of(leader));
    area.take(name_of(space), own);
    return available;
}

// Grows to a longer slot that begins at the same place: cached translations stay valid. (In a shorter one they would
// not.)
bool grow_in_place(Space& space, Word size_mb, Space* leader) {
    SlotName name = name_of(space), longer{name.offset_mb, size_mb};
    if (!space.arch.slot.small() || leader != space.arch.slots.leader) return false;
    if (size_mb == name.size_mb) return true;
    if (size_mb < name.size_mb || space.arch.slot.shares_table() || name.offset_mb % size_mb) return false;
    if (!available_to(space, longer, leader)) return false;
    area.release(name, map_of(leader));
    area.take(longer, map_of(leader));
    space.arch.slot = slot_of(longer);
    set_segments(space);
    return true;
}

bool may_be_small(const Space& space, Space* leader) {
    return space.arch.slots.group.empty() && leader != &space && (!leader || !leader->arch.slot.small());
}

}  // namespace

VAddr first_of_area, behind_large;

void initialise(Word area_mb) {
    area.resize(area_mb);
    first_of_area = KERNEL_BASE - (area_mb << mb_log2);
    behind_large = first_of_area < USER_LIMIT_MAX ? first_of_area : USER_LIMIT_MAX;
    hosts::initialise();
}

void make_large(Space& space) {
    check(!space.arch.slots.leader && !space.arch.shared_table && !space.arch.slots.link.queued());
    space.arch.slot = {0, 0};
    space.arch.own.directory = physical(space.arch.directory);
    space.arch.live_in(&space.arch.own);
    set_segments(space);
}

bool copy_entry(Space& space, VAddr address) {
    check(space.arch.slot.small() && address < space.arch.slot.size);
    check(!space.arch.host || space.arch.host == processor.host);
    auto& host = *static_cast<PageTable*>(window(processor.host->directory));
    Word& copy = host.entry[(space.arch.slot.base + address) >> 22];
    if (copy & page_tables::present) return false;      // and is up to date
    Word own = page_tables::small_directory_entry(space, address);
    if (!own) return false;
    check(own & page_tables::user && page_tables::frame_of(own) < WINDOW_BYTES);
    copy = own;
    trace::event(trace::Event::entry_copied, ThreadId::nil(), trace::name(&space), address,
        trace::name(hosts::owner(processor.host)));
    return true;
}

void release(Space& space) {
    const Slot slot = space.arch.slot;
    check(slot.small() == space.arch.slots.link.queued() && slot.shares_table() == bool(space.arch.shared_table));
    if (!slot.small()) return;
    trace_slot(trace::Event::slot_released, space);
    SlotName name = name_of(space);
    Space* leader = space.arch.slots.leader;
    page_tables::leave_slot(space);
    area.release(name, map_of(leader));
    slots::leave(space);
    bool shared = slot.shares_table(), last = shared && !table_in_use(leader, name);
    if (!shared || last) {
        Slot cleared = slot_of(name.granules());
        leader ? hosts::clear_copies(leader->arch.own, cleared) : hosts::clear_all_copies(cleared);
    }
    // Translations of a bound slot are not global, and not cached unless its host is in force.
    if (!leader) forget(space);
    else if (processor.host == &leader->arch.own) hosts::enter(leader->arch.own);
    if (last) free_table(space, leader, name);
    space.arch.shared_table = nullptr;
    make_large(space);
}

}  // namespace small_space

namespace slots {

using namespace small_space;

VAddr slot_limit(const Space& space) { return space.arch.slot.size; }

bool give_slot(Space& space, Word bytes, Space* leader) {
    if (!bytes || bytes > slot_max_mb << mb_log2 || !may_be_small(space, leader)) return false;
    Word size_mb = slot_min_mb;
    while (size_mb << mb_log2 < bytes) size_mb *= 2;
    if (grow_in_place(space, size_mb, leader)) return true;
    SlotName name = area.find(size_mb, map_of(leader));
    if (!name.size_mb) return false;
    release(space);
    check(name.size_mb << mb_log2 >= bytes && space.arch.slots.leader == nullptr);
    return enter_slot(space, name, leader);
}

void take_slot(Space& space) {
    trace::event(trace::Event::promoted, ThreadId::nil(), trace::name(&space));
    release(space);
}

bool bindable(const Space& space) { return area.bindable(name_of(space)); }

Word take_switches(Space& space) {
    space.arch.count_free_switches();
    Word n = space.arch.switches;
    space.arch.switches = 0;
    return n;
}

ThreadId partner(const Space& space) { return {space.arch.partner}; }

}  // namespace slots

namespace arch {

using namespace small_space;

namespace {

// What Cobnut's own form of the control word returns (docs/tags.md).
Word described(const Space& space) {
    SlotName name = name_of(space);
    Word log2 = name.size_mb ? 32 - static_cast<Word>(__builtin_clz(name.size_mb)) : 0;
    return control_own | name.offset_mb << 16 | log2 << 12 | (space.arch.slots.leader ? 1u << 11 : 0) |
           (space.arch.slots.pinned ? 1u << 10 : 0);
}

// The members of the group become large.
void dissolve_group(Space& leader) {
    while (Space* s = leader.arch.slots.group.front()) {
        release(*s);
        preemption_point();
    }
}

// Whether a holder of the slot, or of a part of it, other than `space` has asked for it.
bool pinned_by_another(const Space& space, SlotName wanted, Word& visits) {
    while (visits) {
        Space& s = spaces::all.turn();
        if (&s != &space && s.arch.slots.pinned && name_of(s).granules().overlaps(wanted)) return true;
        --visits;
        preemption_point();
    }
    return false;
}

// Takes the slots of all others in the way of one: false if one of them has asked for it meanwhile. The last one taken
// has a point behind it, too, since giving up the space's own slot takes as long. What the clock's tick gives to
// another space there is taken again.
bool clear_the_way(const Space& space, SlotName wanted) {
    while (!available_to(space, wanted, nullptr)) {
        Space& s = spaces::all.turn();
        if (&s != &space && name_of(s).granules().overlaps(wanted)) {
            if (s.arch.slots.pinned) return false;
            release(s);
        }
        preemption_point();
    }
    return true;
}

// Gives the space the slot of that name; size 0: none. All spaces are searched only if it is not available. The space
// keeps the slot that it has until the last point is passed: a call that starts again still reports it.
bool take_named_slot(Space& space, SlotName wanted, Word& visits) {
    if (wanted == name_of(space) && !space.arch.slots.leader) return true;
    if (!wanted.size_mb) return release(space), true;
    if (wanted.offset_mb + wanted.size_mb > area.size_mb()) return false;
    if (!available_to(space, wanted, nullptr) && pinned_by_another(space, wanted, visits)) return false;
    dissolve_group(space);
    if (!clear_the_way(space, wanted)) return false;
    release(space);
    return enter_slot(space, wanted, nullptr);
}

bool own_request(Space& space, Word control) {
    Word argument = control >> 8 & 0xfffff;
    switch (control & 0xff) {
    case 0: return true;
    case 1: {
        Thread* t = argument >> ThreadId::number_bits ? nullptr : threads::by_number(argument);
        Space* leader = t ? t->space->arch.slots.leader ? t->space->arch.slots.leader : t->space : nullptr;
        if (!leader || leader == space.arch.slots.leader) return leader;
        VAddr bytes = slots::needed(space);
        preemption_point();
        dissolve_group(space);
        return slots::give_slot(space, bytes, leader);
    }
    case 2:
        if (argument > 8) return false;
        dissolve_group(space);
        return slots::give_slot(space, 1u << (argument + mb_log2), nullptr);
    default: return false;
    }
}

// Sheet 7: bit 31 in: change; out: done. Bits 7..0: the slot by its name, 0 = large. Programs cannot see slots that
// the kernel has chosen.
Word carry_out(Space& space, Word control, Word& visits) {
    constexpr Word change = 1u << 31, number = 0xff;
    bool own = control & control_own;
    Word old = own ? described(space) : space.arch.slots.pinned ? name_of(space).encode() : 0;
    if (!(control & change)) return old;
    bool done = own ? own_request(space, control) : take_named_slot(space, SlotName::decode(control & number), visits);
    if (done) space.arch.slots.pinned = !own || control & number;
    return old | (done ? change : 0);
}

}  // namespace

Word space_control(Space& space, Word control, Word& visits) {
    Word old = carry_out(space, control, visits);
    slots::begin(space);
    return old;
}

bool mapped_up_to(Space& space, VAddr end, Word& budget) {
    if (!space.arch.slot.small() || end <= space.arch.slot.size) return true;
    if (budget < mappings::between_points / 4 * 3) return false;
    slots::outgrow(space, end - 1);
    budget = 0;
    return true;
}

bool leave_all(Space& space) { return slots::retire(space); }

}  // namespace arch
