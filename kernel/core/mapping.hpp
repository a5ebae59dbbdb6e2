// SPDX-License-Identifier: BSD-2-Clause
// The mapping database: which space mapped which page to which other (manual 4.2, 5.2, 5.3).
//
// The mappings of one frame are a tree. It is kept as a list in depth-first order, each node with its depth: the
// mappings derived from a node are exactly the run of deeper nodes that follows it. Sigma0's pages are the roots. A
// node knows its parent, too: its elder siblings and all that is derived from them lie between the two in the list.
//
// A port can have pages of several sizes. A page is one node, whatever its size; a page derived from it is as large, or
// a smaller part of it. An operation on a part of a page first splits the page, and the pages of that size derived from
// it. A split has no preemption point inside, so the number of mappings derived from a large page is limited: before
// there are more, it is split.
#pragma once

#include "core/list.hpp"
#include "core/x2.hpp"

struct Space;

struct Mapping {
    Mapping* next;
    Mapping* prev;
    Mapping* parent;  // nullptr: a root
    Space* space;
    // page address | watched | depth << 2 | status noted since its last reset (paging::accessed, dirty)
    Word where;

    static constexpr Word max_depth = 511;
    static constexpr Word watched = 1u << 11;  // some Sweep may name it
    static constexpr Word status_mask = 3;
    VAddr page() const { return where & ~page_mask; }
    Word depth() const { return where >> 2 & max_depth; }
    Word status() const { return where & status_mask; }
};

namespace mappings {

// The budget from one preemption point to the next, in mappings. A call that begins with less may do nothing: where a
// large page becomes several, that takes up to all of it.
constexpr Word between_points = 64;

// The state of a walk over all that is derived from a page, which removes nothing, while it is preempted. As long as it
// is queued, code that removes or moves a node named here updates it. At most `most_paused` are queued: a walk that
// finds the queue full begins anew, but first completes the one that has been queued longest, for its owner.
struct Sweep {
    Link<Sweep> link;
    Mapping* root;  // the page's own node
    Mapping* at;  // the next to be visited; `root`: its first child; nullptr: none is left
    Space* space;  // the owner's space
    VAddr* page;  // and position in it: moved past the page when the walk is done
    Word* status;  // the owner's status, to which the page's is added then
    bool no_write;  // the walk takes write permission away
    bool sets_attribute;  // the walk sets `attribute`, and leaves the status alone
    bool had_no_place;  // the queue was full
    std::uint8_t attribute;
    bool had_itself;  // the page itself has been visited, but not what is below it
};
constexpr Word most_paused = 16;
// The owner gives the walk up.
void abandon(Sweep& sweep);

// Transfers the pages of `send` (with its rights) from one space to `window` of another; `base` is the send base of the
// map item. With `grant` the source loses them. Pages that are not present leave holes. When the budget is used up,
// another call continues from `progress`. What was transferred until memory ran out stays.
struct Progress {
    Word done;  // bytes that have been dealt with
    unsigned clearing;  // log2 of the size of the mapping that is being removed at the next target; 0: none is
    VAddr end;  // the address after the highest page that was mapped; 0: none was
};
enum class Mapped { all, part, no_memory };
Mapped transfer(Space& from, Fpage send, Space& to, Fpage window, Word base, bool grant, Progress& progress,
    Word& budget);

// The same for a range that was worked out from such a pair of fpages.
struct Range {
    VAddr source, target;
    unsigned log2;
};
Mapped transfer(Space& from, const Range& range, Space& to, Word rights, bool grant, Progress& progress, Word& budget);

// `amount` mappings' work was done that no budget was charged for: the next pay() includes it.
void owe(Word amount);

// Takes the rights in `fpage` from all mappings derived from the space's pages in it, and with `flush` from the pages
// themselves, about `budget` mappings' worth, which is used up. It begins at `at`, which it advances, and adds the
// status of all of them to `status` (paging::accessed, dirty), and resets it. True when all is done. Between two parts
// everything may change, and `sweep` must be handed to the next call, with the same `at` and `status`, or be abandoned;
// until then `at` and `status` may be written. If a page is larger than the fpage and cannot be split because memory is
// exhausted, all of it is taken.
// If the sweep sets an attribute, that is all that is done; pages mapped later inherit it from their source. The fpage
// is without rights then, and in sigma0's space up to 4 MB at a time are made present for that.
bool unmap(Space& space, Fpage fpage, bool flush, VAddr& at, Word& status, Sweep& sweep, Word& budget);
// Read and execute: accessed; write: dirty.
Word as_rights(Word status);

// Makes the page of an idempotent space (sigma0) at `page` present, with the size given. False for the kernel's own
// frames, or when memory is exhausted.
bool materialise(Space& sigma0, VAddr page, unsigned log2 = page_log2);

// Walks all of a space's mappings, counts them and checks the invariants; for tests.
bool consistent(Space& space, Word& count);
// How many there are.
Word in_use();

}  // namespace mappings
