// SPDX-License-Identifier: BSD-2-Clause
// Page tables, small-space slots and what of them the shared code may ask for. A port defines the same names.
//
// Every space has a page directory of its own. A large space runs on it. A small space runs on whatever directory is in
// force, its host: its segments are relocated to its slot in the small-space area, and the directory entries there are
// copies of its own, made when first touched.
#pragma once

#include "core/x2.hpp"
#include "ia32/layout.hpp"

struct Space;
struct Mapping;

inline void* window(PAddr p) { return reinterpret_cast<void*>(p + KERNEL_BASE); }
inline PAddr physical(const void* p) { return reinterpret_cast<Word>(p) - KERNEL_BASE; }

constexpr unsigned directory_entries = 1024;
constexpr unsigned user_tables = USER_LIMIT_MAX >> 22;

struct PageTable {
    Word entry[1024];
};
// Beside each page table: who mapped each of its pages (core/mapping.hpp).
struct MappingTable {
    Mapping* entry[1024];
};

struct Slot {
    VAddr base;         // linear address; 0 while the space is large
    Word size;
    bool small() const { return size != 0; }
};

struct ArchSpace {
    // Read by the fast path. The two halves that differ between the user descriptors of spaces; bases are multiples of
    // 1 MB, so the low word is the limit alone. The data descriptor differs by one type bit.
    Word segment_low;
    Word segment_high;
    PAddr host_directory;           // a large space's own directory; 0 for a small one, which needs none
    Slot slot;
    PageTable* directory;
    MappingTable* mappings[user_tables];
};

namespace paging {

// One page of a space as the shared code sees it.
struct Page {
    bool present;
    bool writable;
    PAddr frame;
};
// What the hardware noted about a page.
constexpr Word accessed = 1, dirty = 2;

Page get(const Space& space, VAddr page);
// The first page at or after `from`, and not after `last`, whose page table exists; false if there is none.
bool next_table(const Space& space, VAddr& from, VAddr last);
// Makes the page table of `page` if it is missing; false when memory is exhausted.
bool ensure_table(Space& space, VAddr page);
// `page` must not be present and must have a table.
void set(Space& space, VAddr page, PAddr frame, bool writable);
// Grants writing to a present page; the processor forgets that it was denied.
void allow_write(Space& space, VAddr page);
// Removes a present page, also from the processor's copies; returns its last status.
Word clear(Space& space, VAddr page);
// The status of a present page. Resets it, and takes writing away if asked, also in the processor's copies.
Word take_status(Space& space, VAddr page, bool no_write);
// Who mapped a page; the page must have a table.
Mapping*& mapping(Space& space, VAddr page);

// The first address that no user may use.
VAddr user_limit();
// True for frames that no user may ever see: the kernel's image and its memory.
bool kernel_frame(PAddr frame);

}  // namespace paging
