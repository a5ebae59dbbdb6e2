// SPDX-License-Identifier: BSD-2-Clause
// The trees of the mapping database: nodes, the walks over them, and what those cost. For core/mapping.cpp and
// core/large_pages.cpp alone; everybody else uses core/mapping.hpp.
#pragma once

#include "core/mapping.hpp"
#include "core/space.hpp"

namespace mappings {

constexpr Word no_limit = ~Word{0};

// Ways through lists and tables since they were paid for, in steps. A budget is in mappings: so many steps take as long
// as one.
inline Word steps;
constexpr Word steps_a_mapping = 16;
// A page of the kernel's for tables: it is zeroed.
constexpr Word table_steps = 6 * steps_a_mapping;

inline void spend(Word& budget, Word amount) { budget -= budget < amount ? budget : amount; }
// For what is done, and the ways that it took.
void pay(Word& budget, Word amount);

// A port may have one size of pages; the others' code is left out then.
constexpr bool several_sizes = paging::sizes[0] != page_log2;
inline unsigned log2_of(const Space& space, VAddr page) {
    if constexpr (several_sizes) return paging::log2_of(space, page);
    return page_log2;
}

// What may come of a large page, in mappings (Run): one as large counts as what splitting it takes. So a split never
// takes more than the budget from one preemption point to the next.
constexpr Word large_weight = 16, most_weight = between_points;
// Below a large page nothing is deeper than that.
constexpr Word most_below_large = most_weight - large_weight;

// The node of a page; nullptr if it is not there, or the kernel's.
Mapping* mapping_at(Space& space, VAddr page);
inline PAddr frame_of(const Mapping& m) { return paging::get(*m.space, m.page()).frame; }
// The address behind a page.
inline VAddr behind(const Space& space, VAddr page) { return (page | ((1u << log2_of(space, page)) - 1)) + 1; }
// What it takes to change a page, in mappings: four small parts of a large one take as long as one mapping. A port with
// such pages has more to do for each page (arm/page_tables.cpp: other addresses of the frame, lines of the cache, other
// spaces that share its region).
inline Word cost_of(const Mapping& m) {
    if constexpr (several_sizes) return ((1u << (log2_of(*m.space, m.page()) - page_log2)) + 3) / 4 + 3;
    return 1;
}
// Whether that may begin with what is left of a budget. It could be more than there is at all: then nothing comes
// before it from the last preemption point on.
inline bool affords(Word budget, Word cost) {
    if constexpr (several_sizes) return cost <= budget || budget >= between_points;
    return true;
}

// Whether a node, or the end of the list, is below another one from which a walk has come to it.
inline bool is_below(const Mapping* n, const Mapping& m) { return n && n->depth() > m.depth(); }
// The last node of the run below `m`, or `m` itself.
Mapping* last_below(Mapping& m);

// A new node for a page of `space`, below `parent`, for which the caller has charged the account; nullptr without
// memory, or where the tree is too deep.
Mapping* insert_paid(Mapping& parent, Space& space, VAddr page);
// One below nothing; nullptr without memory, or if the account may take no more.
Mapping* insert_root(Space& space, VAddr page);
// New nodes, as many, chained by `next` and charged to nobody; nullptr when memory is exhausted.
Mapping* allocate_chain(Word count);
// The node now stands for a page of another space, in the same place of the tree.
void move(Mapping& m, Space& space, VAddr page);
// Moves what the hardware noted about a page into the database: every mapping that it was derived from includes it in
// its own status, and each is reset by itself (manual 4.2: resetting is not recursive).
void note_status(Mapping& m, Word status);
inline Word reset_status(Mapping& m) {
    Word status = m.status();
    m.where &= ~Mapping::status_mask;
    return status;
}

// Takes a page without children out of its space, with its node; returns its last status.
Word remove(Mapping& m);
// Removes all below `m`, leaf by leaf from the front, as long as there is a budget; true if all is gone.
bool remove_below(Mapping& m, Word& budget);
// The walk over what is below a page, part by part: it notes the status of all, and takes writing from them if the
// sweep says so, as long as there is a budget; true if that is done.
bool sweep_below(Mapping& m, Sweep& sweep, Word& budget);
// The nodes below `m` come into another order: those visited and those that were not are mixed. Paused walks do them
// again.
void begin_again_below(Mapping& m);

}  // namespace mappings
