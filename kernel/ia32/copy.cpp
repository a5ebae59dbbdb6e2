// SPDX-License-Identifier: BSD-2-Clause
// Copying between users' frames (core/arch.hpp): through the kernel's window on physical memory, which is the same in every
// host, so that it does not matter where the two spaces are mapped at the moment, or whether they are.
#include "core/arch.hpp"
#include "ia32/page_tables.hpp"

PAddr paging::access(Space& space, VAddr address, bool write) {
    using namespace page_tables;
    if (!(space.arch.directory->entry[address >> 22] & present)) return no_frame;
    Word& entry = page_tables::entry(space, address);
    Word e = entry;
    if (!(e & present) || (write && !(e & writable))) return no_frame;
    entry = e | page_tables::accessed | (write ? page_tables::dirty : 0);
    return frame_of(e);
}

namespace arch {

void copy(PAddr to, PAddr from, Word bytes) {
    using namespace page_tables;
    const char* source = frame_bytes(from, READ_PAGE, present);
    char* target = frame_bytes(to, WRITE_PAGE, present | writable);
    Word words = bytes / sizeof(Word);
    asm volatile("rep movsl" : "+D"(target), "+S"(source), "+c"(words) : : "memory");
    if (Word rest = bytes % sizeof(Word)) asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(rest) : : "memory");
}

// Between sti and cli the processor takes what is pending; the instruction after sti is still shielded.
void preemption_point() { asm volatile("sti; nop; cli" : : : "memory"); }

}  // namespace arch
