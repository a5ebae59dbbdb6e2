// SPDX-License-Identifier: BSD-2-Clause
// What this port keeps of a space: page tables and the small-space slot. core/paging.hpp is what the shared code asks.
//
// Every space has a page directory of its own. A large space runs on it. A small space runs on another's, its host: any
// that is in force if its slot is exclusive, that of its group's leader if it is bound to it. Its segments are
// relocated to its slot in the small-space area, and the directory entries there are copies of its own, made when first
// touched.
#pragma once

#include "core/x2.hpp"
#include "ia32/layout.hpp"
#include "ia32/port_record.hpp"
#include "slots/area.hpp"
#include "slots/state.hpp"

struct Mapping;
struct Space;

inline void* window(PAddr p) { return reinterpret_cast<void*>(p + KERNEL_BASE); }
inline PAddr physical(const void* p) { return reinterpret_cast<Word>(p) - KERNEL_BASE; }

namespace arch {
// At the address that its creator has chosen.
inline Fpage place_utcb_area(Space&, Fpage wanted) { return wanted; }
// Caches are physically indexed: nothing to do.
inline void about_to_copy(Space&, VAddr, Word) {}
}

namespace paging {
constexpr unsigned sizes[] = {page_log2};
constexpr unsigned table_log2 = 22;
constexpr bool access_takes_long = false;

// The smallest slot: its leaf entries may be a part of a shared table.
constexpr Word row_bytes = 1u << 20;
struct Row {
    Word* entry;
    Mapping** who;
    Word kept, added;  // of the source's entry, in what is derived from it

    Mapping* node() const { return *who; }
    bool vacant() const { return !*entry; }
    void derive(const Row& from, Mapping* m) { *entry = (*from.entry & kept) | added, *who = m; }
    void next() { ++entry, ++who; }
};
}

constexpr unsigned directory_entries = 1024;
constexpr unsigned user_tables = USER_LIMIT_MAX >> 22;

struct PageTable {
    Word entry[1024];
};
// The nodes of the pages of one page table (core/mapping.hpp).
struct MappingTable {
    Mapping* entry[1024];
};

struct Slot {
    VAddr base;  // linear address; 0 while the space is large
    Word size;
    bool small() const { return size != 0; }
    // Below 4 MB a directory entry serves several slots: their leaf entries stand in one table.
    bool shares_table() const { return size && size < slots::granule_mb << 20; }
};

// A page directory that can be loaded into CR3.
struct Host {
    PAddr directory;
    Word clean;  // count of revocations (hosts.cpp) up to which its copies have been cleared
};

struct ArchSpace {
    // Read by the fast path. The two words that differ between the user descriptors of spaces; bases are multiples of
    // 1 MB, so the low word is the limit alone. The data descriptor differs by one type bit.
    Word segment_low;
    Word segment_high;
    Host* host;  // the one it must run on; nullptr: any
    Host own;
    // how many switches to it the fast path may make before it checks `host`; 0 if there is one
    Word free_switches;
    Word switches;  // switches from other spaces to it, not counted there, since slots::look() took them
    Word partner;  // the thread that ran before the last of them, by its global id
    Slot slot;
    PageTable* directory;
    PageTable* shared_table;  // holds its leaf entries while its slot shares a table
    slots::State slots;
    slots::SlotMap bound;  // the slots that are bound to its directory
    ports::Held ports;
    MappingTable* mappings[user_tables];

    // When the budget is used up the fast path does the same as for a space that has a host.
    static constexpr Word budget = SWITCH_BUDGET;
    void count_free_switches() {
        if (!host) switches += budget - free_switches;
        free_switches = host ? 0 : budget;
    }
    void live_in(Host* where) {
        count_free_switches();
        host = where;
        free_switches = where ? 0 : budget;
    }
};
