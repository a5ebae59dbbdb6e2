// SPDX-License-Identifier: BSD-2-Clause
// The trees of the mapping database: nodes, walks over them, and the cost of walks. For core/mapping.cpp and
// core/large_pages.cpp alone; all others use core/mapping.hpp.
#pragma once

#include "core/mapping.hpp"
#include "core/space.hpp"

namespace mappings {

// List nodes and table entries visited that are not yet charged to a budget. Budgets count mappings: `steps_a_mapping`
// visits take as long as one mapping.
inline Word steps;
constexpr Word steps_a_mapping = 16;
// The cost of a fresh page for page tables, which is zeroed.
constexpr Word table_steps = 6 * steps_a_mapping;

inline void spend(Word& budget, Word amount) { budget -= budget < amount ? budget : amount; }
// Charges the budget for `amount` mappings' work and for the visits so far.
void pay(Word& budget, Word amount);

// False for a port with a single page size, for which the code for others is left out.
constexpr bool several_sizes = paging::sizes[0] != page_log2;
inline unsigned log2_of(const Space& space, VAddr page) {
    if constexpr (several_sizes) return paging::log2_of(space, page);
    return page_log2;
}

// The limit to what is derived from a large page, in mappings (Run): one as large counts as the cost of splitting it.
// So a split never takes more than the budget from one preemption point to the next.
constexpr Word large_weight = 16, most_weight = between_points;
// A consequence: no node is deeper below a large page.
constexpr Word most_below_large = most_weight - large_weight;

inline PAddr frame_of(const Mapping& m) { return paging::get(*m.space, m.page()).frame; }
// The address behind a page.
inline VAddr behind(const Space& space, VAddr page) { return (page | ((1u << log2_of(space, page)) - 1)) + 1; }
// The cost of a change to a page, in mappings: four small parts of a large one take as long as one mapping. A port with
// large pages does more for each page (arm/page_tables.cpp: other addresses of the frame, cache lines, other spaces
// that share its region).
inline Word cost_of(const Mapping& m) {
    if constexpr (several_sizes) return ((1u << (log2_of(*m.space, m.page()) - page_log2)) + 3) / 4 + 3;
    return 1;
}
// Whether a step of that cost may begin with what is left of a budget. A cost above the full budget is allowed if
// nothing has been spent since the last preemption point.
inline bool affords(Word budget, Word cost) {
    if constexpr (several_sizes) return cost <= budget || budget >= between_points;
    return true;
}

// Whether a node that a walk from `m` has reached (nullptr: the end of the list) is derived from `m`.
[[gnu::always_inline]] inline bool is_below(const Mapping* n, const Mapping& m) { return n && n->depth() > m.depth(); }
// The last node of the run below `m`, or `m` itself.
Mapping* last_below(Mapping& m);

// A new node for a page of `space`, below `parent`, for which the caller has charged the account; nullptr without
// memory, or where the tree is too deep.
Mapping* insert_paid(Mapping& parent, Space& space, VAddr page);
// A root; nullptr without memory, or if the account may take no more.
Mapping* insert_root(Space& space, VAddr page);
// `count` new nodes, chained by `next`, that no account is charged for; nullptr when memory is exhausted.
Mapping* allocate_chain(Word count);
// The node now stands for a page of another space, in the same place of the tree.
void move(Mapping& m, Space& space, VAddr page);
// Moves accessed and dirty bits of a page into the database: they are included in the status of every mapping that it
// was derived from, each of which is reset by itself (manual 4.2: resetting is not recursive).
void note_status(Mapping& m, Word status);

// What a sweep does to a page, with `no_write` for this one: returns the status that it has taken. And when it is
// through with all below the page.
inline Word visit(const Mapping& m, bool no_write, const Sweep& sweep) {
    if (!sweep.sets_attribute) return paging::take_status(*m.space, m.page(), no_write);
    paging::set_attribute(*m.space, m.page(), sweep.attribute);
    return 0;
}
inline void end_visit(Mapping& m, const Sweep& sweep) {
    if (sweep.sets_attribute) return;
    *sweep.status |= m.status();
    m.where &= ~Mapping::status_mask;
}

// Takes a page without children out of its space, with its node; returns its last status.
Word remove(Mapping& m);
// Removes all derived from `m`, leaves first, from the front, as far as the budget goes; true if all is gone.
bool remove_below(Mapping& m, Word& budget);
// One part of the walk over all derived from a page: notes the status of each, and takes write permission away if the
// sweep says so, as far as the budget goes; true if the walk is done.
bool sweep_below(Mapping& m, Sweep& sweep, Word& budget);
// The nodes below `m` are about to be reordered, which mixes visited and unvisited ones: paused walks visit them again.
void begin_again_below(Mapping& m);

}  // namespace mappings
