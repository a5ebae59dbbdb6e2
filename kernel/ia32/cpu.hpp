// SPDX-License-Identifier: BSD-2-Clause
// The processor: single instructions, features, and the state that exists once a processor.
#pragma once

#include "core/thread.hpp"
#include "core/x2.hpp"

namespace cpu {

inline Word read_cr0() { Word v; asm volatile("mov %%cr0, %0" : "=r"(v)); return v; }
inline void write_cr0(Word v) { asm volatile("mov %0, %%cr0" : : "r"(v)); }
inline Word read_cr2() { Word v; asm volatile("mov %%cr2, %0" : "=r"(v)); return v; }
inline Word read_cr3() { Word v; asm volatile("mov %%cr3, %0" : "=r"(v)); return v; }
inline void write_cr3(Word v) { asm volatile("mov %0, %%cr3" : : "r"(v) : "memory"); }
inline Word read_cr4() { Word v; asm volatile("mov %%cr4, %0" : "=r"(v)); return v; }
inline void write_cr4(Word v) { asm volatile("mov %0, %%cr4" : : "r"(v) : "memory"); }
inline void invlpg(VAddr linear) { asm volatile("invlpg (%0)" : : "r"(linear) : "memory"); }
inline std::uint64_t rdtsc() { std::uint64_t v; asm volatile("rdtsc" : "=A"(v)); return v; }
inline void wrmsr(Word msr, Word value) { asm volatile("wrmsr" : : "c"(msr), "a"(value), "d"(0)); }
inline void out8(Word port, Word v) { asm volatile("outb %b0, %w1" : : "a"(v), "Nd"(port)); }
inline void out16(Word port, Word v) { asm volatile("outw %w0, %w1" : : "a"(v), "Nd"(port)); }
inline void out32(Word port, Word v) { asm volatile("outl %0, %w1" : : "a"(v), "Nd"(port)); }
inline Word in8(Word port) { Word v = 0; asm volatile("inb %w1, %b0" : "+a"(v) : "Nd"(port)); return v; }
inline Word in16(Word port) { Word v = 0; asm volatile("inw %w1, %w0" : "+a"(v) : "Nd"(port)); return v; }
inline Word in32(Word port) { Word v; asm volatile("inl %w1, %0" : "=a"(v) : "Nd"(port)); return v; }
inline Word fs_selector() { Word v; asm volatile("mov %%fs, %0" : "=r"(v)); return v & 0xffff; }
inline Word gs_selector() { Word v; asm volatile("mov %%gs, %0" : "=r"(v)); return v & 0xffff; }

enum Cr0 : Word { cr0_write_protect = 1u << 16, cr0_task_switched = 1u << 3 };
enum Cr4 : Word { cr4_page_size = 1u << 4, cr4_page_global = 1u << 7 };
// Manual volume 4 of the processor's vendor, "SYSENTER".
enum Msr : Word { msr_sysenter_cs = 0x174, msr_sysenter_esp = 0x175, msr_sysenter_eip = 0x176 };

// What the boot found out (cpuid leaf 1).
struct Features {
    bool tsc, large_pages, global_pages, sysenter;
};
extern Features features;
Features detect();

}  // namespace cpu

// At the top of the kernel stack: sysenter's stack pointer points at `current`.
struct Processor {
    Thread* current;            // nullptr while idle
    Space* host;                // whose page directory is in force; nullptr: the kernel's own
};
extern "C" Processor processor;
