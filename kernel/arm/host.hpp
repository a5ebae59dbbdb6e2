// SPDX-License-Identifier: BSD-2-Clause
// The host: the first level of the page tables that is in force. There are two kinds of kernel, one in each file: with
// tags (residents.cpp), one first level for all spaces, which holds entries of several at a time; without
// (first_levels.cpp), one for each space, and everything is flushed between them.
#pragma once

#include "arch/paging.hpp"
#include "core/x2.hpp"

// Switches to a space; `left`: the domain of the space that ran before (0: it has none). For spaces that hold a domain
// the fast path does the same itself.
extern "C" void enter_host(Space& space, Word left);

namespace host {

// Whether a space's lines stay in the caches while others run.
extern const bool keeps_caches;

// Reserves memory at the start of the kernel's; returns where the rest begins.
PAddr reserve(PAddr first, PAddr last);
// A new space; false when memory is exhausted. And its end: removes everything of it from the processor.
bool attach(Space& space);
void detach(Space& space);

// A page table for `page` is about to be made; it has been made, or has another first-level entry.
void table_wanted(Space& space, VAddr page);
void table_changed(Space& space, VAddr page);
// Likewise the tables of the space's UTCBs.
void utcbs_made(Space& space);

// Called when the running space has faulted at an address with a page table: whether the table was not in force, and
// is now.
bool refill(Space& space, VAddr address);
// Called when the running space has faulted at an address that its own entry permits: whether the entry in force did
// not, and this has been corrected.
bool share(Space& space, VAddr address);
// Some of the space's own entries in one page table have changed.
void entries_changed(Space& space, VAddr page, Word count);
// Writes back cache lines of some bytes in one page table, before their entries change or the kernel accesses the
// frame. Drops their translations after entries have changed.
void drop_lines(Space& space, VAddr at, Word bytes);
void drop_translations(Space& space, VAddr page, bool one);      // `one`: that of a page of 4 KB alone
// Writes all caches back and empties them.
void flush_caches();
// The kernel is about to access a frame that the space has. Writes back lines that another space, which ran last, may
// have of it; the space's own lines are up to drop_lines().
void about_to_access(const Space& space);

// For the kernel's audit (core/books.cpp): a disagreement between the processor's state for a space and its page
// tables, or nullptr.
const char* disagreement(const Space& space);

// SpaceControl's word (docs/x2-arm.md).
Word control(Space& space, Word word);

}  // namespace host
