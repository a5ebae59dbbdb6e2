// SPDX-License-Identifier: BSD-2-Clause
// Who has been granted a frame: a ring for each frame, through the page tables of those who have. It begins in sigma0's
// table, where the frame's address is its own. So an access finds them without the mapping database, which knows all
// that could have it.
//
// Who has lost the frame may stay in the ring until somebody walks it, or until its place is granted another frame:
// taking a page away costs no search. A ring is no longer than aliases.cpp allows.
#pragma once

#include "arm/page_tables.hpp"
#include "core/mapping.hpp"

namespace sharers {

using page_tables::frame_of;

// A page of 4 KB in a page table.
struct Cell {
    PageTable* table;
    Word place;

    bool operator==(const Cell&) const = default;
    Word& word() const { return table->page[place]; }
    const Mapping* mapping() const { return page_tables::mapping_of(*table, place); }
    bool has(PAddr frame) const {
        return mapping() && word() & page_tables::granted && page_tables::frame_of(word()) == frame;
    }
    Space& space() const { return *mapping()->space; }
    VAddr page() const { return (mapping()->page() & ~0xfffffu) | place << 12; }
    // Where the caches know what has been granted. The space may have been moved since, and be moved back.
    VAddr granted_at() const { return page() < page_tables::relocated_end ? page() + table->granted_at : page(); }
};

// sigma0 has a page table; it is never freed.
void begin(VAddr page, TableDirectory* directory);
// Nothing of a table may be in any ring when it is freed. Takes out up to `most` places, each of which takes a walk
// around its ring, and counts them down; true if none is left.
bool leave(PageTable& table, Word& most);
// A page has been granted. Some from `first` to `end` are no longer.
void gained(Cell cell);
void lost(PageTable& table, Word first, Word end);
// Whether it may be in a ring without being granted.
bool lingers(Cell cell);

extern TableDirectory* roots[4];  // sigma0's

// Where rings begin; no table: the frame has none.
inline Cell root_of(PAddr frame) {
    const TableDirectory* d = roots[frame >> 30];
    return {d ? d->table[frame >> 20 & 0x3ff] : nullptr, page_tables::index(frame)};
}
inline PageTable* table_of(Word number) { return reinterpret_cast<PageTable*>(WINDOW + (number << 12)); }
inline Cell next(Cell c) {
    Word page = c.table->next_table[c.place];
    if (!page) return c;
    return {table_of(page), c.table->next_place[c.place]};
}
void drop_next(Cell before, Cell cell);

// Whether nobody has been granted what is there, nor may be in its ring.
inline bool nobody(Cell cell) {
    Cell root = root_of(frame_of(cell.word()));
    if (cell.table->next_table[cell.place]) return false;
    return root.table && !root.table->next_table[root.place] && !(root.word() & page_tables::granted);
}

// Visits all who have a frame, in turn, sigma0 and then the newest first, as long as the function returns true. It may
// take from the visited what has been granted.
template <typename F> void each(PAddr frame, F visit) {
    Cell root = root_of(frame), before = root;
    if (!root.table || (root.has(frame) && !visit(root))) return;
    for (Cell at = next(before); at != root; at = next(before)) {
        if (!at.has(frame)) {
            drop_next(before, at);
            continue;
        }
        if (!visit(at)) return;
        if (next(before) == at) before = at;
    }
}

}  // namespace sharers
