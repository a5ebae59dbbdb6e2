// SPDX-License-Identifier: BSD-2-Clause
// The grants of each frame: a ring through the page tables of the spaces that have it. The ring begins in sigma0's
// table, at the frame's own address. So a fault finds them without the mapping database, which knows all spaces that
// could have it.
//
// A cell that has lost the frame may stay in the ring until the next walk, or until it is granted another frame: to
// unmap a page takes no search. aliases.cpp limits the length of a ring.
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
    // The address by which the caches know the grant. The space may have been relocated since, and back.
    VAddr granted_at() const { return page() < page_tables::relocated_end ? page() + table->granted_at : page(); }
};

// sigma0 has a page table; it is never freed.
void begin(VAddr page, TableDirectory* directory);
// A table must be in no ring when it is freed. Takes out up to `most` cells, each of which takes a walk around its
// ring, and counts them down; true if none is left.
bool leave(PageTable& table, Word& most);
// A page has been granted. Pages from `first` to `end` have been revoked.
void gained(Cell cell);
void lost(PageTable& table, Word first, Word end);
// Whether a cell may be in a ring without a grant.
bool lingers(Cell cell);

extern TableDirectory* roots[4];  // sigma0's

// The first cell of a frame's ring; no table: the frame has none.
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

// Whether a cell has no grant and is in no ring.
inline bool nobody(Cell cell) {
    Cell root = root_of(frame_of(cell.word()));
    if (cell.table->next_table[cell.place]) return false;
    return root.table && !root.table->next_table[root.place] && !(root.word() & page_tables::granted);
}

// Visits all grants of a frame, sigma0's first and then the newest first, as long as the function returns true. It may
// revoke the one that it visits.
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
