// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/page_tables.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/kip.hpp"
#include "core/memory.hpp"
#include "core/schedule.hpp"
#include "core/string.hpp"
#include "ia32/cpu.hpp"
#include "ia32/hosts.hpp"
#include "ia32/ports.hpp"
#include "ia32/small_space.hpp"
#include "slots/policy.hpp"

// Filled by ia32/boot.S.
extern "C" PageTable boot_directory, boot_window_tables[], boot_fixed_table;
extern "C" char kernel_image[], kernel_image_end[];

namespace page_tables {
namespace {

constexpr Word kernel_first = KERNEL_BASE >> 22;
constexpr Word window_tables = WINDOW_BYTES >> 22;
constexpr Word attribute_bits = write_through | cache_disable | page_attribute;
constexpr VAddr table_mask = 0x3fffff;   // of the bytes that a page table maps
constexpr Word fixed_index = FIXED_AREA >> 22;

// The number of directory entries of a space's own; the others belong to small spaces and to the kernel.
Word own_tables() { return small_space::large_limit() >> 22; }
bool has_table(const Space& space, VAddr page) {
    return page >> 22 < own_tables() && space.arch.directory->entry[page >> 22] & own_table;
}
// Drops the cached translations of one page of a space, wherever it is mapped. Non-global ones of a host that is not
// in force were dropped when the next host was loaded.
void invalidate(const Space& space, VAddr page) {
    const Slot& slot = space.arch.slot;
    if (space.arch.host && processor.host != space.arch.host) return;
    if (!slot.small() || page < slot.size) cpu::invlpg(slot.base + page);
}

void move_entries(Word* to, Word* from, const Slot& slot) {
    Word bytes = (slot.size >> 12) * sizeof(Word);
    memcpy(to, from, bytes);
    fill_zero(from, bytes);
}

// An entry of either kind of table.
using Entry [[gnu::may_alias]] = Word;

// The bits that any of them has.
inline Word any_of_eight(const Entry* e) { return e[0] | e[1] | e[2] | e[3] | e[4] | e[5] | e[6] | e[7]; }

Word global_bit(const Space& space) {
    return space.arch.slot.small() && !space.arch.slots.leader && cpu::features.global_pages ? global : 0;
}

}  // namespace

PageTable& kernel_directory() { return boot_directory; }

void initialise() {
    for (Word i = 0; i < window_tables; ++i) boot_directory.entry[i] = 0;
    Word leaf = present | writable | (cpu::features.global_pages ? global : 0);
    if (cpu::features.large_pages) {
        cpu::write_cr4(cpu::read_cr4() | cpu::cr4_page_size);
        for (Word i = 0; i < window_tables; ++i) boot_directory.entry[kernel_first + i] = i << 22 | large | leaf;
    }
    if (cpu::features.global_pages) cpu::write_cr4(cpu::read_cr4() | cpu::cr4_page_global);
    flush_all();
    cpu::write_cr0(cpu::read_cr0() | cpu::cr0_write_protect);
}

void map_fixed(VAddr at, PAddr frame, Word bits) {
    check(at >= FIXED_AREA && !((at | frame) & page_mask));
    boot_fixed_table.entry[at >> 12 & 0x3ff] = frame | bits | (cpu::features.global_pages ? global : 0);
    cpu::invlpg(at);
}

char* beyond_window(PAddr at, VAddr fixed, Word bits) {
    map_fixed(fixed, frame_of(at), bits);
    return reinterpret_cast<char*>(fixed | (at & page_mask));
}

PAddr fixed_frame(VAddr at) { return frame_of(boot_fixed_table.entry[at >> 12 & 0x3ff]); }

void enter_slot(Space& space) {
    const Slot& slot = space.arch.slot;
    if (!slot.shares_table() || !has_table(space, 0)) return;
    match_global_bits(space, 0);
    move_entries(slice(space), table_at(space, 0).entry, slot);
}

void leave_slot(Space& space) {
    const Slot& slot = space.arch.slot;
    if (!slot.shares_table() || !has_table(space, 0)) return;
    move_entries(table_at(space, 0).entry, slice(space), slot);
}

Word used(const Word* entries, Word count, Word bits) {
    for (const Word* e; count >= 8; count -= 8) {
        e = entries + count - 8;
        if (any_of_eight(e) & bits) break;
    }
    while (count && !(entries[count - 1] & bits)) --count;
    return count;
}

bool match_global_bits(const Space& space, VAddr address) {
    if (!has_table(space, address)) return false;
    Word& in_directory = space.arch.directory->entry[address >> 22];
    Word wanted = global_bit(space);
    if (!wanted == bool(in_directory & present)) return false;
    in_directory ^= present;
    Word* entries = table_at(space, address >> 22).entry;
    for (Word i = directory_entries; (i = used(entries, i));) do {
            Word& e = entries[--i];
            if (e) e = (e & ~global) | wanted;
        } while (i % 8);
    return true;
}

Word small_directory_entry(const Space& space, VAddr address) {
    if (space.arch.slot.shares_table())
        return physical(space.arch.shared_table) | present | writable | user | page_tables::accessed;
    if (!has_table(space, address)) return 0;
    match_global_bits(space, address);
    return space.arch.directory->entry[address >> 22] | present;
}

// Not inlined, so that calls from the boot do not make a second copy of these writes that tests do not cover.
[[gnu::noinline]] void flush_all() {
    if (!cpu::features.global_pages) return cpu::write_cr3(cpu::read_cr3());
    Word cr4 = cpu::read_cr4();
    cpu::write_cr4(cr4 & ~Word{cpu::cr4_page_global});
    cpu::write_cr4(cr4);
}

}  // namespace page_tables

namespace paging {

using namespace page_tables;

VAddr user_limit() { return small_space::large_limit(); }

Page get(const Space& space, VAddr page) {
    if (!has_table(space, page)) return {};
    Word e = page_tables::entry(space, page);
    return {bool(e & present), bool(e & writable), frame_of(e), e & attribute_bits};
}

VAddr skip_unmapped(const Space& space, VAddr from, VAddr last) {
    Word t = from >> 22, end = last >> 22;
    if (space.arch.mappings[t]) return from;
    while (++t <= end)
        if (space.arch.mappings[t]) return t << 22;
    return last + 1;
}

bool next_mapped(const Space& space, VAddr& from, VAddr last) {
    check(last < user_limit());
    const Word end = (last >> 12) + 1;
    for (Word page = from >> 12; page < end;) {
        const MappingTable* table = space.arch.mappings[page >> 10];
        Word behind = (page | 0x3ff) + 1;
        if (behind > end) behind = end;
        if (!table) {
            page = behind;
            continue;
        }
        // In long searches most entries are empty: eight at a time.
        for (auto* m = reinterpret_cast<const Entry*>(&table->entry[page & 0x3ff]); page != behind; ++page, ++m) {
            while (behind - page > 8 && !any_of_eight(m)) page += 8, m += 8;
            if (*m) return from = page << 12, true;
        }
    }
    return false;
}

// A few tables at a time: tables that turn out to be empty are not searched again.
VAddr extent(const Space& space) {
    constexpr Word tables_at_once = 2;
    const Slot& slot = space.arch.slot;
    Word* directory = space.arch.directory->entry;
    Word tables = 0;
    for (Word t = own_tables(); (t = used(directory, t, populated));) {
        Word& in_directory = directory[--t];
        if (tables++ == tables_at_once) return (t + 1) << 22;
        Word end = used(table_at(space, t).entry, directory_entries);
        // The first entries may be in a shared table.
        if (!end && !t && slot.shares_table()) end = used(slice(space), slot.size >> 12);
        if (end) return (t << 22) + (end << 12);
        in_directory &= ~populated;
    }
    return 0;
}

bool ensure_table(Space& space, VAddr page) {
    check(page >> 22 < own_tables());
    if (has_table(space, page)) return true;
    void* table = memory::allocate_page(space.account);
    if (!table) return false;
    void* notes = memory::allocate_page(space.account);
    if (!notes) return memory::free_page(table, space.account), false;
    space.arch.mappings[page >> 22] = static_cast<MappingTable*>(notes);
    Word seen = global_bit(space) ? 0 : present;
    space.arch.directory->entry[page >> 22] =
        physical(table) | own_table | seen | writable | user | page_tables::accessed;
    return true;
}

void set(Space& space, VAddr page, PAddr frame, bool may_write, Word attribute, unsigned) {
    check(has_table(space, page) && !page_tables::entry(space, page) && !((page | frame) & page_mask));
    check(!(attribute & ~attribute_bits));
    Word& in_directory = space.arch.directory->entry[page >> 22];
    in_directory |= populated;
    Word bits = present | user | attribute | (may_write ? writable : 0) | (in_directory & present ? 0 : global);
    page_tables::entry(space, page) = frame | bits;
}

namespace {

Word status_of(Word e) {
    return (e & page_tables::accessed ? paging::accessed : 0) | (e & page_tables::dirty ? paging::dirty : 0);
}

}  // namespace

// The values are Pistachio's (sheet 4.10): 0, or one more than an index into the PAT as that kernel sets it up; the
// boot does the same (ia32/boot.cpp). Processors without it know the first four.
Word attribute(Word value) {
    if (value == 0) return 0;
    bool known = value <= 4 || (cpu::features.pat && (value == 5 || value == 8));
    if (!known) return no_attribute;
    Word index = value - 1;
    return (index & 1 ? write_through : 0) | (index & 2 ? cache_disable : 0) | (index & 4 ? page_attribute : 0);
}

void set_attribute(Space& space, VAddr page, Word attribute) {
    Word& e = page_tables::entry(space, page);
    check(e & present && e & user);
    e = (e & ~attribute_bits) | attribute;
    invalidate(space, page);
}

void flush_caches() { cpu::wbinvd(); }

void allow_write(Space& space, VAddr page) {
    check(page_tables::entry(space, page) & present);
    page_tables::entry(space, page) |= writable;
    invalidate(space, page);
}

Word clear(Space& space, VAddr page) {
    Word& e = page_tables::entry(space, page);
    check(e & present && e & user);
    Word last = e;
    e = 0;
    invalidate(space, page);
    return status_of(last);
}

Word take_status(Space& space, VAddr page, bool no_write) {
    Word& e = page_tables::entry(space, page);
    check(e & present && e & user);
    Word taken = e & (page_tables::accessed | page_tables::dirty | (no_write ? writable : 0));
    if (!taken) return 0;
    e &= ~taken;
    invalidate(space, page);
    return status_of(taken);
}

bool row(Space& space, VAddr page, bool may_write, Row& row) {
    MappingTable* nodes = space.arch.mappings[page >> 22];
    if (!nodes) return false;
    Word& in_directory = space.arch.directory->entry[page >> 22];
    in_directory |= populated;
    row = {&page_tables::entry(space, page), &nodes->entry[page >> 12 & 0x3ff],
        ~page_mask | present | user | attribute_bits | (may_write ? writable : 0), in_directory & present ? 0 : global};
    return true;
}

// A node is where a user's page is present.
Mapping* node(Space& space, VAddr page) {
    const Word t = page >> 22;
    const MappingTable* nodes = t < user_tables ? space.arch.mappings[t] : nullptr;
    return nodes ? nodes->entry[page >> 12 & 0x3ff] : nullptr;
}

Mapping*& mapping(Space& space, VAddr page) {
    check(has_table(space, page) && space.arch.mappings[page >> 22]);
    return space.arch.mappings[page >> 22]->entry[page >> 12 & 0x3ff];
}

bool kernel_frame(PAddr frame) {
    if (frame >= physical(kernel_image) && frame < physical(kernel_image_end)) return true;
    return kip::memory_type(frame) == kip::reserved;
}

}  // namespace paging

namespace arch {

using namespace page_tables;

Space* allocate_space() {
    static_assert(sizeof(Space) <= page_size, "a space is a page directory and one page");
    return static_cast<Space*>(memory::allocate_page(memory::kernel));
}

void free_space(Space& space) { memory::free_page(&space, memory::kernel); }

bool create_space(Space& space) {
    auto* directory = static_cast<PageTable*>(memory::allocate_page(memory::kernel));
    if (!directory) return false;
    for (Word i = kernel_first; i < directory_entries; ++i) directory->entry[i] = boot_directory.entry[i];
    space.arch.directory = directory;
    space.arch.free_switches = ArchSpace::budget;
    // Without the rules about slots it is neither read nor reset.
    if (checks::on && !slots::rules.automatic) space.arch.switches = checks::counter_start;
    small_space::make_large(space);
    return true;
}

bool destroy_space(Space& space) {
    Word budget = mappings::between_points, left = budget;
    if (!ports::take(space, ports::all, true, budget)) return false;
    if (processor.host == &space.arch.own) hosts::enter(hosts::kernel);
    if (Word t = used(space.arch.directory->entry, own_tables(), own_table)) {
        Word& table = space.arch.directory->entry[--t];
        // All that is left are UTCBs and the interface page.
        Word* entries = table_at(space, t).entry;
        for (Word i = directory_entries; (i = used(entries, i));) {
            if (!left--) return false;
            PAddr frame = frame_of(entries[--i]);
            entries[i] = 0;
            if (frame != physical(&kip::kip)) memory::free_page(window(frame), space.account);
        }
        memory::free_zeroed_page(window(frame_of(table)), space.account);
        memory::free_zeroed_page(space.arch.mappings[t], space.account);
        table = 0;
        return false;
    }
    check(processor.host != &space.arch.own && space.arch.slots.group.empty());
    check(!space.arch.slots.leader && !space.arch.slots.link.queued());
    memory::free_page(space.arch.directory, memory::kernel);
    return true;
}

bool map_kernel_page(Space& space, VAddr page, void* frame, bool may_write) {
    if (!paging::ensure_table(space, page)) return false;
    paging::set(space, page, physical(frame), may_write, 0);
    return true;
}

void* kernel_page(const Space& space, VAddr page) {
    paging::Page p = paging::get(space, page);
    return p.present && !space.arch.mappings[page >> 22]->entry[page >> 12 & 0x3ff] ? window(p.frame) : nullptr;
}

void* kip_page() { return &kip::kip; }

}  // namespace arch
