// SPDX-License-Identifier: BSD-2-Clause
// Copying between users' frames (core/arch.hpp): through the kernel's window on physical memory, which is the same in every
// host, so that it does not matter where the two spaces are mapped at the moment, or whether they are.
#include "core/arch.hpp"
#include "core/string.hpp"
#include "ia32/page_tables.hpp"

namespace arch {

void copy(PAddr to, PAddr from, Word bytes) {
    using namespace page_tables;
    const char* source = frame_bytes(from & ~page_mask, READ_PAGE, present) + (from & page_mask);
    memcpy(frame_bytes(to & ~page_mask, WRITE_PAGE, present | writable) + (to & page_mask), source, bytes);
}

// Between sti and cli the processor takes what is pending; the instruction after sti is still shielded.
void preemption_point() { asm volatile("sti; nop; cli" : : : "memory"); }

}  // namespace arch
