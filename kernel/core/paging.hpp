// SPDX-License-Identifier: BSD-2-Clause
// The architecture contract for page tables: what the shared code asks of a port, which also defines ArchSpace,
// window() and physical() in arch/paging.hpp.
#pragma once

#include "core/x2.hpp"

struct Space;
struct Mapping;

namespace paging {

// One page of a space as the shared code sees it.
struct Page {
    bool present;
    bool writable;
    PAddr frame;
    Word attribute;     // how it is cached, as the port notes it; 0: as memory is by default
};
// What the hardware noted about a page.
constexpr Word accessed = 1, dirty = 2;

Page get(const Space& space, VAddr page);
// The first page at or after `from`, and not after `last`, which is a user's, that has a node; false if there is none.
bool next_mapped(const Space& space, VAddr& from, VAddr last);
// The first address at or after `from` that has a page table; last + 1 if none up to `last` has. A few instructions a
// table: a port that has very many ends at one that is not there, and is asked again.
VAddr skip_unmapped(const Space& space, VAddr from, VAddr last);
// The end of its highest page, UTCBs and interface page included; 0 if it has none. A port may say more than that where
// a space has many tables without pages, and less at each call until it is exact.
VAddr extent(const Space& space);
// Makes the page table of `page` if it is missing; false when memory is exhausted. A page of any size has one.
bool ensure_table(Space& space, VAddr page);
// Nothing of `page` must be present, and it must have a table.
void set(Space& space, VAddr page, PAddr frame, bool writable, Word attribute, unsigned log2 = page_log2);
// The port's note for a value of MemoryControl; no_attribute if the processor does not support it.
constexpr Word no_attribute = ~Word{0};
Word attribute(Word value);
// Changes how a present page is cached; flush_caches() when all are changed.
void set_attribute(Space& space, VAddr page, Word attribute);
void flush_caches();
// The frame behind an address, for an access that the kernel makes in the user's name and notes as the processor would;
// no_frame if the user could not make it. `address` lies below user_limit().
constexpr PAddr no_frame = ~PAddr{0};
template <bool write> PAddr access(Space& space, VAddr address);
// Grants writing to a present page; the processor forgets that it was denied.
void allow_write(Space& space, VAddr page);
// Removes a present page, also from the processor's copies; returns its last status.
Word clear(Space& space, VAddr page);
// The status of a present page. Resets it, and takes writing away if asked, also in the processor's copies.
Word take_status(Space& space, VAddr page, bool no_write);
// The node of a page (nullptr: the kernel's own page); the page must have a table.
Mapping*& mapping(Space& space, VAddr page);
// The node of whatever is there; nullptr: nothing is present, or the kernel's own page.
Mapping* node(Space& space, VAddr page);
// Pages one after the other, from `page` on up to the next multiple of row_bytes: false if that has no table. A page
// derived by it may be written to if its source may and `may_write` says so.
bool row(Space& space, VAddr page, bool may_write, Row& row);

// Beside these a port defines in arch/paging.hpp:
// - arch::place_utcb_area(): where a space's UTCB area really lies;
// - `Row`: a place in a page table, with row_bytes. node() is the node of its page, or nullptr; vacant() says whether
//   nothing is there; derive(from, node) puts there what is at another place, a page of the smallest size; next()
//   advances;
// - `constexpr unsigned sizes[]`: the sizes of pages as log2, largest first and 4 KB last. Each is 1 << n times the
//   next one, with n at most 4;
// - `constexpr unsigned table_log2`: what one page table covers;
// - `constexpr bool access_takes_long`: whether there has to be a preemption point between access() and more work.
// All that is said of a page above holds for one of any size: it is changed as a whole. get(), access() and mapping()
// take any of its addresses, the others its first one.

// Ports with more than one size define the following, too.
// The size of a present page; 4 KB where none is present.
unsigned log2_of(const Space& space, VAddr page);
// Splits a page into pages of the next size. All but the first have no node yet.
void split(Space& space, VAddr page, unsigned log2);
// Whether all frames of a page that large are of one kind: the kernel's, memory, or a device's.
bool of_one_kind(PAddr frame, unsigned log2);

// The first address that no user may use.
VAddr user_limit();
// True for frames that no user may ever see: the kernel's image and its memory.
bool kernel_frame(PAddr frame);

}  // namespace paging
