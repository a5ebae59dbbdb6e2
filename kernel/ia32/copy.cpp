// SPDX-License-Identifier: BSD-2-Clause
// Copying between users' frames (core/arch.hpp): through the kernel's window on physical memory, which is the same in
// every host, so that it does not matter where the two spaces are mapped at the moment, or whether they are.
#include "core/arch.hpp"
#include "core/check.hpp"
#include "ia32/page_tables.hpp"

namespace {

// As the processor would: the frame, if the entry permits the access, which it then notes.
template <bool write> inline PAddr access_by(Word& entry) {
    using namespace page_tables;
    constexpr Word wanted = present | (write ? writable : 0),
                   noted = page_tables::accessed | (write ? page_tables::dirty : 0);
    Word e = entry;
    if ((e & wanted) != wanted) return paging::no_frame;
    entry = e | noted;
    return frame_of(e);
}

template <bool write> [[gnu::noinline, gnu::cold]] PAddr access_shared(Space& space, VAddr address) {
    const Slot& slot = space.arch.slot;
    if (address >= slot.size || !slot.shares_table()) return paging::no_frame;
    return access_by<write>(page_tables::slice(space)[address >> 12]);
}

}  // namespace

// The space's own table comes first: entries that are in a shared table are not present there.
template <bool write> PAddr paging::access(Space& space, VAddr address) {
    using namespace page_tables;
    Word table = space.arch.directory->entry[address >> 22];
    if (!(table & own_table)) return no_frame;
    PAddr frame = access_by<write>(static_cast<PageTable*>(window(frame_of(table)))->entry[address >> 12 & 0x3ff]);
    return frame == no_frame ? access_shared<write>(space, address) : frame;
}
template PAddr paging::access<false>(Space& space, VAddr address);
template PAddr paging::access<true>(Space& space, VAddr address);

namespace arch {
namespace {

inline void copy_bytes(char* to, const char* from, Word bytes) {
    Word words = bytes / sizeof(Word);
    asm volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
    if (Word rest = bytes % sizeof(Word)) asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(rest) : : "memory");
}

[[gnu::noinline, gnu::cold]] void copy_beyond_window(PAddr to, PAddr from, Word bytes) {
    using namespace page_tables;
    const char* source = frame_bytes(from, READ_PAGE, present);
    copy_bytes(frame_bytes(to, WRITE_PAGE, present | writable), source, bytes);
}

}  // namespace

void copy(PAddr to, PAddr from, Word bytes) {
    check((to & page_mask) + bytes <= page_size && (from & page_mask) + bytes <= page_size);
    if (to >= WINDOW_BYTES || from >= WINDOW_BYTES) return copy_beyond_window(to, from, bytes);
    copy_bytes(static_cast<char*>(window(to)), static_cast<char*>(window(from)), bytes);
}

// Between sti and cli the processor takes what is pending; the instruction after sti is still shielded.
void preemption_point() { asm volatile("sti; nop; cli" : : : "memory"); }

}  // namespace arch
