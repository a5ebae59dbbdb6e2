// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/small_space.hpp"

#include "core/arch.hpp"
#include "core/trace.hpp"
#include "ia32/cpu.hpp"
#include "ia32/descriptors.hpp"
#include "ia32/page_tables.hpp"
#include "tags/slots.hpp"

namespace small_space {
namespace {

constexpr unsigned mb_log2 = 20;

tags::SlotMap slots;
VAddr area_base;

tags::SlotName name_of(const Space& space) {
    const Slot& s = space.arch.slot;
    return s.small() ? tags::SlotName{(s.base - area_base) >> mb_log2, s.size >> mb_log2} : tags::SlotName{0, 0};
}

void set_segments(ArchSpace& a, VAddr base, Word size) {
    Descriptor d = user_code_segment(base, size);
    a.segment_low = d.low;
    a.segment_high = d.high;
}

PageTable& host() { return processor.host ? *processor.host->arch.directory : page_tables::kernel_directory(); }

void clear_copies(PageTable& directory, const Slot& slot) {
    for (Word i = slot.base >> 22; i <= (slot.base + slot.size - 1) >> 22; ++i) directory.entry[i] = 0;
}

void trace_slot(trace::Event event, const Space& space) {
    trace::event(event, ThreadId::nil(), trace::name(&space), space.arch.slot.base, space.arch.slot.size);
}

void enter_slot(Space& space, tags::SlotName name) {
    slots.take(name);
    space.arch.slot = {area_base + (name.offset_mb << mb_log2), name.size_mb << mb_log2};
    space.arch.host_directory = 0;
    set_segments(space.arch, space.arch.slot.base, space.arch.slot.size);
    page_tables::set_global(space, true);
    trace_slot(trace::Event::slot_taken, space);
}

}  // namespace

void initialise(Word area_mb) {
    slots.resize(area_mb);
    area_base = KERNEL_BASE - (area_mb << mb_log2);
}

VAddr large_limit() { return area_base < USER_LIMIT_MAX ? area_base : USER_LIMIT_MAX; }

void make_large(Space& space) {
    space.arch.slot = {0, 0};
    space.arch.host_directory = physical(space.arch.directory);
    set_segments(space.arch, 0, large_limit());
}

bool copy_entry(Space& space, VAddr address) {
    Word own = space.arch.directory->entry[address >> 22];
    Word& copy = host().entry[(space.arch.slot.base + address) >> 22];
    if (!(own & page_tables::present) || copy & page_tables::present) return false;
    copy = own;
    trace::event(trace::Event::entry_copied, ThreadId::nil(), trace::name(&space), address, trace::name(processor.host));
    return true;
}

void release(Space& space) {
    if (!space.arch.slot.small()) return;
    trace_slot(trace::Event::slot_released, space);
    for (Space* s = spaces::all().front(); s; s = spaces::all().after(*s)) clear_copies(*s->arch.directory, space.arch.slot);
    clear_copies(page_tables::kernel_directory(), space.arch.slot);
    page_tables::set_global(space, false);
    page_tables::flush_all();
    slots.release(name_of(space));
    make_large(space);
}

}  // namespace small_space

namespace arch {

VAddr tag_limit(const Space& space) { return space.arch.slot.size; }

void promote(Space& space) {
    trace::event(trace::Event::promoted, ThreadId::nil(), trace::name(&space));
    small_space::release(space);
}

// Bit 31 in: change; out: done. Bits 7..0: the slot by its name, 0 = large.
Word space_control(Space& space, Word control) {
    using namespace small_space;
    constexpr Word change = 1u << 31, number = 0xff;
    tags::SlotName old = name_of(space), wanted = tags::SlotName::decode(control & number);
    if (!(control & change)) return old.encode();
    if (wanted == old) return change | old.encode();
    if (wanted.size_mb && !slots.available(wanted, old)) return old.encode();
    release(space);
    if (wanted.size_mb) enter_slot(space, wanted);
    return change | old.encode();
}

}  // namespace arch
