// SPDX-License-Identifier: BSD-2-Clause
#include "arm/sharers.hpp"

namespace sharers {

TableDirectory* roots[4];

namespace {

bool in_ring(Cell c) { return c.table->next_table[c.place]; }

std::uint16_t number(const PageTable* table) {
    return static_cast<std::uint16_t>((reinterpret_cast<Word>(table) - WINDOW) >> 12);
}

void set_next(Cell c, Cell next) {
    c.table->next_table[c.place] = number(next.table);
    c.table->next_place[c.place] = static_cast<std::uint8_t>(next.place);
}

void join(Cell c) {
    Cell root = root_of(frame_of(c.word()));
    if (!root.table || root == c) return;
    set_next(c, next(root));
    set_next(root, c);
}

void leave(Cell c) {
    for (Cell before = c;;) {
        Cell at = next(before);
        if (at == c) return drop_next(before, c);
        before = at;
    }
}

bool is_root(const PageTable& t) { return t.begins_rings; }

}  // namespace

void begin(VAddr page, TableDirectory* directory) {
    roots[page >> 30] = directory;
    directory->table[page >> 20 & 0x3ff]->begins_rings = true;
}

bool leave(PageTable& table, Word& most) {
    for (Word i = 0; i < page_tables::pages_of_table; ++i) {
        if (!table.next_table[i]) continue;
        if (!most) return false;
        leave({&table, i});
        most -= 1;
    }
    return true;
}

void gained(Cell c) {
    if (is_root(*c.table) || !c.mapping()) return;      // without, it is the kernel's
    if (in_ring(c)) leave(c);
    join(c);
}

// A cell stays in its ring if its neighbour there is not the root: removal would take a search.
void lost(PageTable& table, Word first, Word end) {
    if (is_root(table)) return;
    const Word own = number(&table);
    for (Word i = first; i < end; ++i) {
        Word next = table.next_table[i], place = table.next_place[i];
        if (!next || table.page[i] & page_tables::granted) continue;
        PageTable& root = *table_of(next);
        if (root.next_table[place] != own || root.next_place[place] != i) continue;
        root.next_table[place] = table.next_table[i] = 0;
    }
}

bool lingers(Cell c) { return in_ring(c) && !is_root(*c.table) && !(c.word() & page_tables::granted); }

void drop_next(Cell before, Cell c) {
    set_next(before, next(c));
    c.table->next_table[c.place] = 0;
}

}  // namespace sharers
