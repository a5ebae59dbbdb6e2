// SPDX-License-Identifier: BSD-2-Clause
// What this port keeps of a space. core/paging.hpp is what the shared code asks.
#pragma once

#include "arm/layout.hpp"
#include "core/x2.hpp"

struct Mapping;
struct Space;

inline void* window(PAddr p) { return reinterpret_cast<void*>(p - WINDOW_FIRST + WINDOW); }
// Also for addresses in the kernel's image.
inline PAddr physical(const void* p) {
    Word at = reinterpret_cast<Word>(p);
    return (at >= IMAGE ? at - IMAGE : at - WINDOW) + RAM_BASE;
}

namespace arch {
// UTCBs lie where the kernel has room for them, in a megabyte of the space's own: only the size is its creator's
// choice.
Fpage place_utcb_area(Space& space, Fpage wanted);
// Writes the cache lines of the space's bytes back, and invalidates them.
void about_to_copy(Space& space, VAddr at, Word bytes);
// Hooks of core/arch.hpp without work here: a domain does not limit addresses, and no tag is found through spaces::all.
inline bool mapped_up_to(Space&, VAddr, Word&) { return true; }
inline bool leave_all(Space&) { return true; }
}

namespace paging {
constexpr unsigned sizes[] = {20, 16, page_log2};
constexpr unsigned table_log2 = 20;
constexpr bool access_takes_long = true;

constexpr Word row_bytes = 1u << table_log2;
struct Row {
    Word* page;
    Mapping** who;
    Word kept;  // of what is known of the source, in what is derived from it

    Mapping* node() const { return *who; }
    bool vacant() const { return !*page; }
    void derive(const Row& from, Mapping* m) { *page = *from.page & kept, *who = m; }
    void next() { ++page, ++who; }
};
}

// The second-level table of one megabyte (ARM architecture manual, B3.3): small pages, and large ones in sixteen equal
// entries.
struct CoarseTable {
    Word entry[256];
};

// A megabyte of a space, in one page of the kernel's: what the processor walks, and beside it what it stands for. The
// processor notes neither accesses nor writes, so its entry grants a page only what has been noted (page_tables.hpp).
struct PageTable {
    CoarseTable hardware;
    Word page[256];
    Mapping* mapping[256];
    // the section entry that replaces the table in the first level, but for the domain; 0: none
    Word section;
    Word granted_at;            // the slot that the space was relocated to when its pages were granted
    // The next page in the frame's ring (sharers.hpp): its table's page, by number, and its index there. 0: not in a
    // ring.
    std::uint16_t next_table[256];
    std::uint8_t next_place[256];
    bool begins_rings;
};

// A gigabyte of a space.
struct TableDirectory {
    PageTable* table[1024];
};

struct FirstLevel {
    Word entry[4096];
};

struct ArchSpace {
    // First: what the fast path writes when the space is switched to (arm/fastpath.S). Without a domain `dacr` is 0.
    Word dacr;  // domain access: the kernel's domain, its own and those of regions
    Word pid;  // what is added to its addresses below 32 MB
    Word domain;
    Word regions;  // domain access of the regions that it is a member of
    Word lines_since;  // count of flushes when it lost its domain: while it is the same, caches may have its lines
    Word loss;  // Residents::loss() when it lost its last domain; 0: it has lost none
    // The tables of its UTCB area, nullptr as long as there is none: for the space itself, and for the kernel while
    // others run.
    CoarseTable* own_utcbs;
    CoarseTable* kernel_utcbs;
    std::uint16_t utcb_area;  // its number + 1; 0: none has been placed
    std::uint16_t utcb_pages;  // how many of its pages, from its start, can have been used
    bool detached;  // it is being destroyed, and no state of the processor refers to it
    bool slot_chosen;  // `pid` is what the kernel or SpaceControl has chosen
    std::uint8_t recent_count;
    std::uint16_t recent[6];  // sections that it had when it lost its domain
    TableDirectory* tables[4];
    std::uint32_t slots_with_tables[4];  // of each gigabyte: in which of its 32 MB there are any
    FirstLevel* directory;  // without tags: what the processor walks while the space runs
};
