// SPDX-License-Identifier: BSD-2-Clause
// SA-1100 and SA-1110 (developer's manual, chapters 5 and 6): 8 KB of data, 16 KB of instructions, 32 ways, replaced in
// turn. No page is mapped so that the minicache would take its lines.
#include "arm/caches.hpp"
#include "arm/cpu.hpp"
#include "arm/layout.hpp"

namespace caches {
namespace {

constexpr Word data_bytes = 8192;

}  // namespace

// There is no operation that cleans more than a line: as much as the cache holds is read from the bank of zeros. That
// leaves no room for anything that has been there before, for none of it is left from the time before.
void clean_and_invalidate_data() {
    for (VAddr at = ZEROS; at < ZEROS + data_bytes; at += line)
        static_cast<void>(*reinterpret_cast<const volatile Word*>(at));
    cpu::drain_write_buffer();
    asm volatile("mcr p15, 0, %0, c7, c6, 0" : : "r"(0) : "memory");
}

void invalidate_instructions() { asm volatile("mcr p15, 0, %0, c7, c5, 0" : : "r"(0) : "memory"); }

void clean_and_invalidate_data(VAddr at, Word bytes) {
    for (VAddr end = at + bytes, p = at & ~(line - 1); p < end; p += line) {
        asm volatile("mcr p15, 0, %0, c7, c10, 1" : : "r"(p) : "memory");
        asm volatile("mcr p15, 0, %0, c7, c6, 1" : : "r"(p) : "memory");
    }
    cpu::drain_write_buffer();
}

void clean_line(const void* at) {
    asm volatile("mcr p15, 0, %0, c7, c10, 1" : : "r"(at) : "memory");
    cpu::drain_write_buffer();
}

// There is no operation on a single entry of the instruction TLB.
void invalidate_translation(VAddr at) {
    cpu::invalidate_data_tlb_entry(at);
    asm volatile("mcr p15, 0, %0, c8, c5, 0" : : "r"(0) : "memory");
}

void invalidate_data_translation(VAddr at) { cpu::invalidate_data_tlb_entry(at); }

void wait_for_interrupt() { asm volatile("mcr p15, 0, %0, c15, c8, 2" : : "r"(0) : "memory"); }

}  // namespace caches
