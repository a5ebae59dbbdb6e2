// SPDX-License-Identifier: BSD-2-Clause
// ARM926EJ-S (technical reference manual, 2.3.8 to 2.3.10).
#include "arm/caches.hpp"
#include "arm/cpu.hpp"

namespace caches {

// Test, clean and invalidate: one dirty line at a time, until none is left.
void clean_and_invalidate_data() {
    asm volatile("1: mrc p15, 0, r15, c7, c14, 3\n\tbne 1b" : : : "cc", "memory");
    asm volatile("mcr p15, 0, %0, c7, c6, 0" : : "r"(0) : "memory");
    cpu::drain_write_buffer();
}

void invalidate_instructions() { asm volatile("mcr p15, 0, %0, c7, c5, 0" : : "r"(0) : "memory"); }

void clean_and_invalidate_data(VAddr at, Word bytes) {
    for (VAddr end = at + bytes, p = at & ~(line - 1); p < end; p += line)
        asm volatile("mcr p15, 0, %0, c7, c14, 1" : : "r"(p) : "memory");
    cpu::drain_write_buffer();
}

void clean_line(const void* at) {
    asm volatile("mcr p15, 0, %0, c7, c10, 1" : : "r"(at) : "memory");
    cpu::drain_write_buffer();
}

// One TLB for both: the operation that empties that of instructions would empty it.
void invalidate_translation(VAddr at) { asm volatile("mcr p15, 0, %0, c8, c7, 1" : : "r"(at) : "memory"); }

void invalidate_data_translation(VAddr at) { invalidate_translation(at); }

void wait_for_interrupt() { asm volatile("mcr p15, 0, %0, c7, c0, 4" : : "r"(0) : "memory"); }

}  // namespace caches
