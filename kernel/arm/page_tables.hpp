// SPDX-License-Identifier: BSD-2-Clause
// First- and second-level entries (ARM architecture manual, B3.3), and what stands beside them, for the files of arm/
// only.
#pragma once

#include "core/space.hpp"

namespace page_tables {

// First level: a section of 1 MB, or a coarse table of 256 entries.
constexpr Word first_section = 0x12, first_coarse = 0x11;
constexpr Word domain(Word number) { return number << 5; }
// Access permissions, by the field's position in a section entry, and all four fields of a small page.
enum Access : Word { access_kernel = 1, access_user_read = 2, access_user_write = 3 };
constexpr Word section_access(Access a) { return a << 10; }
constexpr Word page_access(Access a) { return a * 0x550; }
constexpr Word buffered = 1u << 2, cached = 1u << 3;
// Second level.
constexpr Word large_page = 1, small_page = 2, page_type = 3;

// PageTable::page: the frame and these.
constexpr Word present = 1u << 0;
constexpr Word writable = 1u << 1;
constexpr Word accessed = 1u << 2;
constexpr Word dirty = 1u << 3;
constexpr Word attribute_bits = 3u << 4;        // 0: cached and buffered
constexpr Word attribute_uncached = 1u << 4, attribute_buffered = 2u << 4;
// What the processor's entry grants of what is permitted: revoked and granted again without the user's notice
// (aliases.hpp).
constexpr Word granted_read = 1u << 6, granted_write = 1u << 7, granted = granted_read | granted_write;
constexpr Word aliased = 1u << 8;               // not cached while it is granted, for the same reason
constexpr Word size_shift = 9;                  // 0: a page of 4 KB; 1, 2: a part of one of 64 KB, 1 MB
constexpr Word size_bits = 3u << size_shift;

// The kernel's own first level, in force before the first space runs. With tags all spaces use it.
extern "C" FirstLevel boot_directory;
// Writes an entry so that the table walker sees it, which does not look into the data cache.
void write(Word& entry, Word value);
// Maps window, devices and the UTCB word, after entry.S has mapped the image; takes the identity mapping away.
void initialise();
// The kernel's own memory, whole megabytes, is cached; and the TLB has nothing of what was before.
void cache_window(PAddr first, PAddr last);
// The kernel's uncached address of memory, up to the end of its page: in the window, or in one of two pages, by
// number, until the next call for that page.
void* view(PAddr at, Word number);
PageTable* table(const Space& space, VAddr page);
// Writes back and invalidates the data cache's lines of [at, at + bytes) of the space.
void clean_lines(const Space& space, VAddr at, Word bytes);
// Changes the notes of `count` pages of 4 KB, parts of one page: clears the bits `away` and sets the bits `in`. The
// processor's entries follow.
void change(Space& space, VAddr page, Word count, Word away, Word in);
// Replaces the note of one page.
inline void change(Space& space, VAddr page, Word to) { change(space, page, 1, ~Word{0}, to); }
// The processor's entry for a page of 4 KB with that note.
Word small_entry(Word page);
// Whether the processor's entries agree with the notes of the pages, and so does the section if there is one.
bool agrees(const PageTable& t);
// The first-level entry of a table, but for the domain.
inline Word first_level(const CoarseTable& table) { return physical(&table) | first_coarse; }
inline Word first_level(const PageTable& t) { return t.section ? t.section : first_level(t.hardware); }
inline PAddr frame_of(Word page) { return page & ~page_mask; }
inline Word index(VAddr page) { return page >> 12 & 0xff; }
// How many pages of 4 KB there are in the page that one belongs to.
inline Word parts(Word page) { return 1u << 4 * ((page & size_bits) >> size_shift); }
constexpr Word pages_of_table = 256;
// The node of the page that an entry belongs to.
inline Mapping*& mapping_of(PageTable& t, Word index) { return t.mapping[index & ~(parts(t.page[index]) - 1)]; }
inline VAddr first_part(VAddr page, Word parts) { return page & ~(parts * page_size - 1); }

// The address by which the caches and the TLB know an address of the space: addresses below 32 MB are relocated.
constexpr VAddr relocated_end = 32u << 20;
inline VAddr modified(const Space& space, VAddr address) {
    return address < relocated_end ? address + space.arch.pid : address;
}
// And back. A processor reports either of the two.
inline VAddr original(const Space& space, VAddr address) {
    return space.arch.pid && address - space.arch.pid < relocated_end ? address - space.arch.pid : address;
}

// Revokes what has been granted in a megabyte if the space has been relocated since. The processor has nothing of it,
// caches included.
void withdraw_moved(const Space& space, VAddr page);

// The result of an access that has faulted. `granted`: it has been noted, and the page's entry grants it now.
enum class Touch { granted, nothing_new, denied };
Touch touch(Space& space, VAddr address, bool write);

// Has the UTCB area of a space, and its page there.
inline bool in_utcb_areas(VAddr page) { return page >= UTCB_AREAS && page < UTCB_AREAS_END; }
bool map_utcb_page(Space& space, VAddr page, void* frame);
void* utcb_page(const Space& space, VAddr page);
void release_utcbs(Space& space);
// The first-level entry that is its area's.
inline Word utcb_section(const Space& space) { return (UTCB_AREAS >> 20) + space.arch.utcb_area - 1; }

}  // namespace page_tables
