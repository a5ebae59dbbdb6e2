// SPDX-License-Identifier: BSD-2-Clause
// Page directory and table entries (processor manual volume 3, chapter 4), for the files of ia32/ only.
#pragma once

#include "core/space.hpp"

namespace page_tables {

constexpr Word present = 1u << 0;
constexpr Word writable = 1u << 1;
constexpr Word user = 1u << 2;
constexpr Word write_through = 1u << 3;     // with the next one and page_attribute: which entry of the PAT
constexpr Word cache_disable = 1u << 4;
constexpr Word accessed = 1u << 5;
constexpr Word dirty = 1u << 6;
constexpr Word large = 1u << 7;         // directory entries: a 4 MB page
constexpr Word page_attribute = 1u << 7;        // leaf entries of 4 KB pages
constexpr Word global = 1u << 8;        // leaf entries: survives a switch of page directory
// Directory entries of a space's own, for the kernel alone. The leaf entries of a table that is not `present` there are
// global, those of all others are not: match_global_bits() changes a table from one to the other.
constexpr Word own_table = 1u << 9;  // a page table is there
constexpr Word populated = 1u << 10;  // and may hold pages

// The kernel's part, shared by all directories; also what is in force before the first large space runs.
PageTable& kernel_directory();
// Takes over the boot's tables: 4 MB and global pages where the processor has them, no identity mapping.
void initialise();
// Maps a page of the fixed area at the top of the address space.
void map_fixed(VAddr at, PAddr frame, Word bits);
// The kernel's address of the bytes at a physical address, up to the end of their frame: in the window on physical
// memory, or for a frame beyond it temporarily in the fixed page at `fixed`.
char* beyond_window(PAddr at, VAddr fixed, Word bits);
inline char* frame_bytes(PAddr at, VAddr fixed, Word bits) {
    return at < WINDOW_BYTES ? static_cast<char*>(window(at)) : beyond_window(at, fixed, bits);
}
// The frame that is mapped there.
PAddr fixed_frame(VAddr at);
inline PAddr frame_of(Word entry) { return entry & ~page_mask; }
inline PageTable& table_at(const Space& space, Word index) {
    return *static_cast<PageTable*>(window(frame_of(space.arch.directory->entry[index])));
}
// The part of a shared table that a space's slot takes.
inline Word* slice(const Space& space) { return space.arch.shared_table->entry + (space.arch.slot.base >> 12 & 0x3ff); }
// The index after the last of `count` entries that has one of `bits`; 0 if none has. Eight at a time: most are empty,
// and whole tables are searched with interrupts off.
Word used(const Word* entries, Word count, Word bits = ~Word{0});
// The entry of a page, which must have a table.
inline Word& entry(const Space& space, VAddr page) {
    const Slot& slot = space.arch.slot;
    if (page < slot.size && slot.shares_table()) return slice(space)[page >> 12];
    return table_at(space, page >> 22).entry[page >> 12 & 0x3ff];
}
// The leaf entries of a space that has just got its slot, or is about to give it up: in a shared table or in its own.
// Nothing is invalidated.
void enter_slot(Space& space);
void leave_slot(Space& space);
// Makes the leaf entries of the table for `address` global or not, as the space's slot requires. Deferred until the
// table is first touched after a change, so that a slot of 64 tables changes hands in constant time. False: there was
// nothing to change.
bool match_global_bits(const Space& space, VAddr address);
// The directory entry that hosts copy; 0: none yet.
Word small_directory_entry(const Space& space, VAddr address);
// Fills the thread table with the entry for unused numbers (arch::nobody).
void initialise_thread_table();
// Drops every cached translation, also global ones.
void flush_all();

}  // namespace page_tables
