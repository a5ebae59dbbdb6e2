// SPDX-License-Identifier: BSD-2-Clause
// What this port keeps of a space: page tables and the small-space slot. core/paging.hpp is what the shared code asks.
//
// Every space has a page directory of its own. A large space runs on it. A small space runs on whatever directory is in
// force, its host: its segments are relocated to its slot in the small-space area, and the directory entries there are
// copies of its own, made when first touched.
#pragma once

#include "core/x2.hpp"
#include "ia32/layout.hpp"

struct Mapping;
struct Space;

inline void* window(PAddr p) { return reinterpret_cast<void*>(p + KERNEL_BASE); }
inline PAddr physical(const void* p) { return reinterpret_cast<Word>(p) - KERNEL_BASE; }

namespace arch {
// Where its creator wants it.
inline Fpage place_utcb_area(Space&, Fpage wanted) { return wanted; }
}

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
    // 4 MB, so the low word is the limit alone. The data descriptor differs by one type bit.
    Word segment_low;
    Word segment_high;
    PAddr host_directory;           // a large space's own directory; 0 for a small one, which needs none
    Slot slot;
    PageTable* directory;
    MappingTable* mappings[user_tables];
};
