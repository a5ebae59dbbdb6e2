// SPDX-License-Identifier: BSD-2-Clause
// The kernel's own part of the address space, which all spaces share; spaces' UTCBs; their creation and destruction.
#include "arm/caches.hpp"
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "arm/sharers.hpp"
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/kip.hpp"
#include "core/memory.hpp"
#include "core/string.hpp"

extern "C" {
// Behind UTCB_WORD_PAGE; only written there.
alignas(page_size) Word utcb_word[page_size / sizeof(Word)];
}

namespace page_tables {
namespace {

constexpr Word window_first = WINDOW >> 20, utcb_areas = (UTCB_AREAS_END - UTCB_AREAS) >> 20;

alignas(1024) CoarseTable top_table;             // of the megabyte with the UTCB word, and behind it the views
constexpr Word first_view = 1;
std::uint32_t taken_areas[utcb_areas / 32];

memory::Pool utcb_tables{sizeof(CoarseTable)};

bool make_utcb_tables(Space& space) {
    ArchSpace& a = space.arch;
    auto* own = static_cast<CoarseTable*>(utcb_tables.allocate(space.account));
    auto* kernels = static_cast<CoarseTable*>(utcb_tables.allocate(space.account));
    if (!own || !kernels) {
        if (own) utcb_tables.free(own, space.account);
        if (kernels) utcb_tables.free(kernels, space.account);
        return false;
    }
    // Users may access addresses without UTCBs: in their own table, and in the kernel's while the space has no domain.
    // The table walker reads memory, which may still hold another space's entries.
    CoarseTable* const both[] = {own, kernels};
    for (CoarseTable* t : both) caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(t), sizeof *t);
    a.own_utcbs = own;
    a.kernel_utcbs = kernels;
    host::utcbs_made(space);
    return true;
}

}  // namespace

void write(Word& entry, Word value) {
    entry = value;
    caches::clean_line(&entry);
}

void initialise() {
    Word memory_section = first_section | section_access(access_kernel) | buffered;
    Word device_section = first_section | section_access(access_kernel);
    for (Word i = 0; i < WINDOW_BYTES >> 20; ++i)
        write(boot_directory.entry[window_first + i], (WINDOW_FIRST + (i << 20)) | memory_section);
    const Word devices[] = {
        DEVICE_SECTION_0,
#if DEVICE_SECTIONS > 1
        DEVICE_SECTION_1,
#endif
    };
    for (Word i = 0; i < DEVICE_SECTIONS; ++i)
        write(boot_directory.entry[(DEVICES >> 20) + i], devices[i] | device_section);
#ifdef ZERO_BANK
    write(boot_directory.entry[ZEROS >> 20], ZERO_BANK | device_section | buffered | cached);
#endif
    write(top_table.entry[0], physical(utcb_word) | page_access(access_user_read) | buffered | cached | small_page);
    write(boot_directory.entry[UTCB_WORD_PAGE >> 20], physical(&top_table) | first_coarse);
    write(boot_directory.entry[RAM_BASE >> 20], 0);
    caches::clean_and_invalidate_data();
}

void cache_window(PAddr first, PAddr last) {
    for (Word i = (first - WINDOW_FIRST) >> 20; i <= (last - WINDOW_FIRST) >> 20; ++i)
        write(boot_directory.entry[window_first + i], boot_directory.entry[window_first + i] | cached);
    cpu::invalidate_tlb();
}

void* view(PAddr at, Word number) {
    if (at - WINDOW_FIRST < WINDOW_BYTES) return window(at);
    Word index = first_view + number;
    VAddr page = UTCB_WORD_PAGE + index * page_size;
    write(top_table.entry[index], (at & ~page_mask) | page_access(access_kernel) | buffered | small_page);
    cpu::invalidate_data_tlb_entry(page);
    return reinterpret_cast<void*>(page | (at & page_mask));
}

bool map_utcb_page(Space& space, VAddr page, void* frame) {
    ArchSpace& a = space.arch;
    check(a.utcb_area && page >> 20 == utcb_section(space));
    if (!a.own_utcbs && !make_utcb_tables(space)) return false;
    // The frame has been written to through the window.
    caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(frame), page_size);
    Word index = page_tables::index(page), entry = physical(frame) | buffered | cached | small_page;
    write(a.own_utcbs->entry[index], entry | page_access(access_user_write));
    write(a.kernel_utcbs->entry[index], entry | page_access(access_kernel));
    if (index >= a.utcb_pages) a.utcb_pages = static_cast<std::uint16_t>(index + 1);
    return true;
}

void* utcb_page(const Space& space, VAddr page) {
    bool there = space.arch.own_utcbs && space.arch.own_utcbs->entry[page_tables::index(page)];
    return there ? reinterpret_cast<void*>(page) : nullptr;
}

void release_utcbs(Space& space) {
    ArchSpace& a = space.arch;
    if (a.own_utcbs) {
        for (Word e : a.own_utcbs->entry)
            if (e) memory::free_page(window(e & ~page_mask), space.account);
        utcb_tables.free(a.own_utcbs, space.account);
        utcb_tables.free(a.kernel_utcbs, space.account);
    }
    check(!a.domain && !a.regions);
    if (Word area = a.utcb_area) taken_areas[(area - 1) / 32] &= ~(1u << (area - 1) % 32);
    a.own_utcbs = a.kernel_utcbs = nullptr;
    a.utcb_area = a.utcb_pages = 0;
}

}  // namespace page_tables

namespace arch {

using namespace page_tables;

Fpage place_utcb_area(Space& space, Fpage wanted) {
    constexpr unsigned megabyte_log2 = 20;
    if (wanted.log2() > megabyte_log2) return Fpage::nil();
    for (Word n = 0; !space.arch.utcb_area && n < utcb_areas; n += 32) {
        Word &word = taken_areas[n / 32], free = ~word & (word + 1);
        if (!free) continue;
        word |= free;
        space.arch.utcb_area = static_cast<std::uint16_t>(n + static_cast<Word>(__builtin_ctz(free)) + 1);
    }
    if (!space.arch.utcb_area) return Fpage::nil();
    return Fpage::memory(UTCB_AREAS + ((space.arch.utcb_area - 1) << megabyte_log2), wanted.log2());
}

bool equip_server(Space&) { return true; }

// At different offsets in their pages, since one offset is one set of the data cache; and none in that of the
// SA-1110's 8 sets in which pages begin.
Space* allocate_space() {
    constexpr Word sets = 8, places = 56, lines = places / (sets - 1) * sets;
    static_assert(sizeof(Space) + lines * caches::line <= page_size);
    void* page = memory::allocate_page(memory::kernel);
    if (!page) return nullptr;
    Word at = reinterpret_cast<Word>(page);
    Word place = at / page_size % places;
    return reinterpret_cast<Space*>(at + (1 + place + place / (sets - 1)) * caches::line);
}

void free_space(Space& space) {
    memory::free_page(reinterpret_cast<void*>(reinterpret_cast<Word>(&space) & ~page_mask), memory::kernel);
}

bool create_space(Space& space) { return host::attach(space); }

bool destroy_space(Space& space) {
    constexpr Word tables_at_a_time = 4, places_at_a_time = 16;
    if (!space.arch.detached) {
        host::detach(space);
        release_utcbs(space);
        space.arch.detached = true;
        return false;
    }
    Word left = tables_at_a_time, places = places_at_a_time;
    for (TableDirectory*& d : space.arch.tables) {
        if (!d || space.idempotent) continue;       // rings begin there (sharers.hpp)
        for (PageTable*& t : d->table) {
            if (!t) continue;
            // All that is left in the kernel's areas is the interface page, which all spaces share.
            if (!left-- || !sharers::leave(*t, places)) return false;
            memory::free_page(t, space.account);
            t = nullptr;
        }
        memory::free_page(d, space.account);
        d = nullptr;
        return false;
    }
    return true;
}

bool map_kernel_page(Space& space, VAddr page, void* frame, bool may_write) {
    if (in_utcb_areas(page)) return map_utcb_page(space, page, frame);
    if (!paging::ensure_table(space, page)) return false;
    paging::set(space, page, physical(frame), may_write, 0);
    return true;
}

void* kernel_page(const Space& space, VAddr page) {
    if (in_utcb_areas(page)) return utcb_page(space, page);
    paging::Page p = paging::get(space, page);
    return p.present && !mapping_of(*table(space, page), index(page)) ? window(p.frame) : nullptr;
}

void* kip_page() { return &kip::kip; }

Word space_control(Space& space, Word control, Word&) { return host::control(space, control); }

const char* disagreement(const Space& space) { return host::disagreement(space); }

}  // namespace arch
