// SPDX-License-Identifier: BSD-2-Clause
// The processor: single instructions, features, and the state that exists once a processor.
#pragma once

#include "arch/paging.hpp"
#include "core/thread.hpp"
#include "core/x2.hpp"
#include "ia32/layout.hpp"

namespace cpu {

inline Word read_cr0() {
    Word v;
    asm volatile("mov %%cr0, %0" : "=r"(v));
    return v;
}
inline void write_cr0(Word v) { asm volatile("mov %0, %%cr0" : : "r"(v)); }
inline Word read_cr2() {
    Word v;
    asm volatile("mov %%cr2, %0" : "=r"(v));
    return v;
}
inline Word read_cr3() {
    Word v;
    asm volatile("mov %%cr3, %0" : "=r"(v));
    return v;
}
inline void write_cr3(Word v) { asm volatile("mov %0, %%cr3" : : "r"(v) : "memory"); }
inline Word read_cr4() {
    Word v;
    asm volatile("mov %%cr4, %0" : "=r"(v));
    return v;
}
inline void write_cr4(Word v) { asm volatile("mov %0, %%cr4" : : "r"(v) : "memory"); }
inline void clear_task_switched() { asm volatile("clts"); }
inline void invlpg(VAddr linear) { asm volatile("invlpg (%0)" : : "r"(linear) : "memory"); }
inline std::uint64_t rdtsc() {
    std::uint64_t v;
    asm volatile("rdtsc" : "=A"(v));
    return v;
}
inline void wrmsr(Word msr, Word low, Word high = 0) { asm volatile("wrmsr" : : "c"(msr), "a"(low), "d"(high)); }
inline void wbinvd() { asm volatile("wbinvd" : : : "memory"); }
inline void out8(Word port, Word v) { asm volatile("outb %b0, %w1" : : "a"(v), "Nd"(port)); }
inline void out16(Word port, Word v) { asm volatile("outw %w0, %w1" : : "a"(v), "Nd"(port)); }
inline void out32(Word port, Word v) { asm volatile("outl %0, %w1" : : "a"(v), "Nd"(port)); }
inline Word in8(Word port) {
    Word v = 0;
    asm volatile("inb %w1, %b0" : "+a"(v) : "Nd"(port));
    return v;
}
inline Word in16(Word port) {
    Word v = 0;
    asm volatile("inw %w1, %w0" : "+a"(v) : "Nd"(port));
    return v;
}
inline Word in32(Word port) {
    Word v;
    asm volatile("inl %w1, %0" : "=a"(v) : "Nd"(port));
    return v;
}
inline Word fs_selector() {
    Word v;
    asm volatile("mov %%fs, %0" : "=r"(v));
    return v & 0xffff;
}
inline Word gs_selector() {
    Word v;
    asm volatile("mov %%gs, %0" : "=r"(v));
    return v & 0xffff;
}

enum Cr0 : Word {
    cr0_monitor = 1u << 1,          // wait looks at task_switched, too
    cr0_emulate = 1u << 2,          // there is no coprocessor
    cr0_task_switched = CR0_TASK_SWITCHED,
    cr0_numeric_error = 1u << 5,    // its errors are #MF, not an interrupt
    cr0_write_protect = 1u << 16,
};
enum Cr4 : Word {
    cr4_page_size = 1u << 4,
    cr4_page_global = 1u << 7,
    cr4_fxsave = 1u << 9,           // SSE may be used, and is saved with the rest
    cr4_sse_errors = 1u << 10,      // its errors are #XM
};
// Manual volume 4 of the processor's vendor.
enum Msr : Word { msr_sysenter_cs = 0x174, msr_sysenter_esp = 0x175, msr_sysenter_eip = 0x176, msr_pat = 0x277 };

// What the boot found out (cpuid leaf 1).
struct Features {
    bool tsc, large_pages, global_pages, sysenter, coprocessor, fxsave, sse, pat;
};
extern Features features;
Features detect();

}  // namespace cpu

// The end of a thread's frame. An entry from user mode by gate finds its stack there, so that the processor itself
// saves into the thread; the assembler knows the current thread and its partners by this address.
inline Word frame_top(const Thread* t) { return reinterpret_cast<Word>(t) + offsetof(Thread, frame) + sizeof(Frame); }
inline Thread* thread_of_frame_top(Word top) {
    return reinterpret_cast<Thread*>(top - offsetof(Thread, frame) - sizeof(Frame));
}

// The task state segment (volume 3, 7.2.1), as far as it is used, right above the kernel stack. The stacks of rings 1
// and 2 do not exist: what the IPC path reads stands in their place, in one cache line with the current thread.
struct Processor {
    Word back_link;
    Word esp0;                  // the top of the running thread's frame; sysenter's stack pointer points here
    Word ss0;
    Host* host;                 // the page directory in force
    Word ready_top;             // core/schedule.hpp
    void (*leave)();            // how an IPC that switches by the fast path leaves (ia32/fastpath.S)
    Word leaving;               // the frame of a thread that leaves by the path of reflected calls
    Word cr3, eip, eflags;
    Word eax, ecx, edx, ebx, esp, ebp, esi, edi;
    Word es, cs, ss, ds;
    Word fs, gs;                // what the way out of the kernel loads (ia32/tls.hpp)
    Word ldt;
    Word io_map;                // offset << 16 of the I/O bitmap; past the limit: no port is allowed

    Thread* current() const { return thread_of_frame_top(esp0); }        // nullptr while idle
    void set_current(const Thread* t) { esp0 = frame_top(t); }
};
static_assert(sizeof(Processor) == 104);
extern "C" Processor processor;
// Right behind it (ia32/boot.S), with the byte of ones that the processor wants after it.
extern "C" std::uint8_t io_bitmap[(1u << 16) / 8 + 1];
constexpr Word io_map_open = 128u << 16, io_map_none = 0xffffu << 16;
