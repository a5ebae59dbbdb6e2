// SPDX-License-Identifier: BSD-2-Clause
#include "arm/sharers.hpp"

namespace sharers {

TableDirectory* roots[4];

namespace {

bool in_ring(Cell c) { return c.table->next_table[c.place]; }

void set_next(Cell c, Cell next) {
    c.table->next_table[c.place] = static_cast<std::uint16_t>((reinterpret_cast<Word>(next.table) - WINDOW) >> 12);
    c.table->next_place[c.place] = static_cast<std::uint8_t>(next.place);
}

void join(Cell c) {
    Cell root = root_of(frame_of(c.word()));
    if (!root.table || root == c) return;
    set_next(c, next(root));
    set_next(root, c);
}

// Looks for the one before it for so many steps.
void leave(Cell c, Word steps) {
    for (Cell before = c; steps; --steps) {
        Cell at = next(before);
        if (at == c) return drop_next(before, c);
        before = at;
    }
}

constexpr Word any_number = ~Word{0};
constexpr Word few = 2;             // alone in a ring

bool is_root(const PageTable& t) { return t.begins_rings; }

}  // namespace

void begin(VAddr page, TableDirectory* directory) {
    roots[page >> 30] = directory;
    directory->table[page >> 20 & 0x3ff]->begins_rings = true;
}

bool leave(PageTable& table) {
    constexpr Word at_a_time = 16;
    Word left = at_a_time;
    for (Word i = 0; i < page_tables::pages_of_table; ++i) {
        if (!table.next_table[i]) continue;
        if (!left--) return false;
        leave({&table, i}, any_number);
    }
    return true;
}

void changed(Cell c) {
    if (is_root(*c.table)) return;
    if (!(c.word() & page_tables::granted)) {
        if (in_ring(c)) leave(c, few);
    } else if (c.mapping()) {               // else it is the kernel's
        if (in_ring(c)) leave(c, any_number);
        join(c);
    }
}

bool lingers(Cell c) { return in_ring(c) && !is_root(*c.table) && !(c.word() & page_tables::granted); }

void drop_next(Cell before, Cell c) {
    set_next(before, next(c));
    c.table->next_table[c.place] = 0;
}

}  // namespace sharers
