// SPDX-License-Identifier: BSD-2-Clause
// The user registers of a thread, in the order in which the processor moves them.
#pragma once

#include "core/x2.hpp"

// popa's order, lowest address first.
struct Registers {
    Word edi, esi, ebp, kernel_esp, ebx, edx, ecx, eax;
};
static_assert(sizeof(Registers) == 32);

// iret's order, lowest address first.
struct Frame {
    Word eip, cs, eflags, esp, ss;
};
static_assert(sizeof(Frame) == 20);

// The longest message that the kernel makes: an exception's (manual A.8).
constexpr Word kernel_message_words = 12;

namespace arch {
constexpr Word register_words = 12;  // of read_registers()
constexpr Word interrupt_lines = 16;
}

// Resources of the processor that the running thread may hold, in Thread::fast_veto: the fast path would pass them on
// to the next thread. The way out of the kernel takes them back when another thread runs.
enum Held : Word {
    held_coprocessor = 0x100,   // CR0.TS is clear (ia32/coprocessor.hpp)
    held_tls = 0x200,           // the TLS descriptor, FS and GS are its own (ia32/tls.hpp)
    held_ports = 0x400,         // the I/O bitmap is in force (ia32/port_bitmap.hpp)
    held_debug = 0x800,         // its breakpoints are on (ia32/debug_registers.hpp)
    held_mask = 0xff00,
};

// The segment that a thread may have for itself (ia32/tls.hpp).
struct TlsSegment {
    // What the fast path turns, in one cache line (ia32/reflection.S).
    Word made[2], toggle[2];    // the descriptor last loaded, which says the side, and its difference to the other's
    Word turned;                // the registers when it was last turned, as one number; none if by the fast path
    Word turned_at;             // EIP when the fast path last turned it
    VAddr base;                 // inside its space
    bool set, in_fs, in_gs;
    Word within[2];             // the space's segment when it was made; or 0
};

// What this port keeps of a thread.
struct ArchThread {
    struct CoprocessorState* coprocessor;       // its saved state; nullptr before the first use
    struct DebugRegisters* debug;               // likewise
    TlsSegment tls;
};

// Where a thread continues that entered by sysenter and was left waiting by the fast path: the return address and the
// stack pointer of the stub. (An entry by `int` leaves a complete frame.)
struct FastEntry {
    Word eip, esp;
};

// Where control blocks lie (core/thread.cpp): the fast path's part of one is a cache line.
constexpr Word thread_alignment = 64, thread_block = page_size;
