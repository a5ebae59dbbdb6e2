// SPDX-License-Identifier: BSD-2-Clause
// The host: the first level of the page tables that is in force. There are two kinds of kernel, and each has its file:
// with tags (residents.cpp), one first level for all spaces, in which the entries of several stand at a time; without
// (first_levels.cpp), one for each space, and everything is flushed between them.
#pragma once

#include "arch/paging.hpp"
#include "core/x2.hpp"

// The space's code runs next; before it, that of the one with the domain `left` did (0: it has none). For spaces that
// hold a domain the fast path does the same itself.
extern "C" void enter_host(Space& space, Word left);

namespace host {

// Whether the caches keep what a space has there while others run.
extern const bool keeps_caches;

// Puts memory aside at the start of the kernel's; returns where the rest begins.
PAddr reserve(PAddr first, PAddr last);
// A space begins; false when memory is exhausted. It ends: the processor holds nothing of it any more.
bool attach(Space& space);
void detach(Space& space);

// A page table for `page` is about to be made; it has been made, or has another first-level entry.
void table_wanted(Space& space, VAddr page);
void table_changed(Space& space, VAddr page);
// Likewise the tables of the space's UTCBs.
void utcbs_made(Space& space);

// The running space has a page table for an address where it has faulted: whether that was not in force, and is now.
bool refill(Space& space, VAddr address);
// The running space may access an address, by its own entry, and has faulted there: whether the entry in force did not
// say so, and what to do about it has been done.
bool share(Space& space, VAddr address);
// Some of the space's own entries in one page table have changed.
void entries_changed(Space& space, VAddr page, Word count);
// What the caches hold of some bytes in one page table goes to memory, because entries are about to change or the
// kernel to access the frame. Entries have changed: no translation is left.
void drop_lines(Space& space, VAddr at, Word bytes);
void drop_translations(Space& space, VAddr page, bool one);      // `one`: that of a page of 4 KB alone
// All caches are empty afterwards, and what was in them is in memory.
void flush_caches();
// The kernel is about to access a frame that the space has. What another one, which ran last, may have of it in the
// caches goes to memory; what the space itself has there, drop_lines() sees to.
void about_to_access(const Space& space);

// What the processor goes by for a space, held against its page tables, for the kernel's audit (core/books.cpp): what
// does not agree, or nullptr.
const char* disagreement(const Space& space);

// SpaceControl's word (docs/x2-arm.md).
Word control(Space& space, Word word);

}  // namespace host
