// SPDX-License-Identifier: BSD-2-Clause
// The mapping database: who mapped which page to whom (manual 4.2, 5.2, 5.3).
//
// The mappings of one frame are a tree. It is kept as a list in depth-first order, each node with its depth: the
// mappings derived from a node are exactly the run of deeper nodes that follows it. Sigma0's pages are the roots. A
// node knows its parent, too: its elder siblings and all that is derived from them lie between the two in the list.
//
// A port can have pages of several sizes. One is one node, whatever its size; what is derived from it is as large, or a
// smaller part of it. Who does something to a part of a page makes smaller ones of it first, and of those derived from
// it. That is one piece of work, so only few mappings may come of a large page: before there are more, it becomes
// several smaller ones.
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

// A walk over all that is derived from a page without removing it, between two parts of it. While it is queued, whoever
// removes or moves a node that it names sees to it. No more than a few are: who would be one more begins anew, but
// brings one of the others to its end first, for its owner.
struct Sweep {
    Link<Sweep> link;
    Mapping* root;  // the page's
    Mapping* at;  // the next to be visited; `root`: its first child; nullptr: none is left
    Space* space;  // its owner's,
    VAddr* page;  // and the page: goes on behind it when that is done
    Word* status;  // which gathers the page's then
    bool no_write;  // writing is taken
    bool had_no_place;
    bool had_itself;  // of the page that Unmap stopped at, not of what is below it, the status was taken already
};
constexpr Word most_paused = 16;
// Its owner does not go on with it.
void abandon(Sweep& sweep);

// Transfers the pages of `send` (with its rights) from one space to `window` of another; `base` is the send base of
// the map item. With `grant` the source loses them. Pages that are not there leave holes. When the budget is used up,
// another call goes on from `progress`. What was transferred until memory ran out stays.
struct Progress {
    Word done;  // bytes that have been dealt with
    unsigned clearing;  // log2 of the size of what goes away at the next one's target; 0: nothing does
    VAddr end;  // behind the highest page that was mapped; 0: none was
};
enum class Mapped { all, part, no_memory };
Mapped transfer(Space& from, Fpage send, Space& to, Fpage window, Word base, bool grant, Progress& progress,
    Word& budget);

// The same of the range that is picked so, of two spaces.
struct Range {
    VAddr source, target;
    unsigned log2;
};
Mapped transfer(Space& from, const Range& range, Space& to, Word rights, bool grant, Progress& progress, Word& budget);

// So much was done that no budget has paid for yet: whoever pays next does.
void owe(Word amount);

// Takes the rights in `fpage` from all mappings derived from the space's pages in it, and with `flush` from the pages
// themselves. Returns the status of all of them as rights: read and execute = accessed, write = dirty; resets it.
Word unmap(Space& space, Fpage fpage, bool flush);
// Part of the same, about `budget` mappings' worth, which is used up: from `at` on, which follows, as `status`
// (paging::accessed, dirty) gathers. True when all is done. In between everything may change, and `sweep` is either
// handed to another call, with the same two, or abandoned; while it is neither, `at` and `status` may be written. Of a
// page that is larger than the fpage and cannot be split, as memory is exhausted, all is taken.
bool unmap(Space& space, Fpage fpage, bool flush, VAddr& at, Word& status, Sweep& sweep, Word& budget);
Word as_rights(Word status);
// How the space's pages in `fpage`, and all derived from them, are cached (paging::attribute). Pages mapped later take
// over what their source has. In sigma0's space up to 4 MB at a time come into being for that.
void set_attribute(Space& space, Fpage fpage, Word attribute);

// Makes the page of an idempotent space (sigma0) that stands for `page` present, as large as said. False for the
// kernel's own frames, or when memory is exhausted.
bool materialise(Space& sigma0, VAddr page, unsigned log2 = page_log2);

// Walks all of a space's mappings, counts them and checks the invariants; for tests.
bool consistent(Space& space, Word& count);
// How many there are.
Word in_use();

}  // namespace mappings
