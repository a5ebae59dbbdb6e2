// SPDX-License-Identifier: BSD-2-Clause
// The user registers of a thread, in the order in which entry.S moves them.
#pragma once

#include "arm/layout.hpp"
#include "core/x2.hpp"

struct Registers {
    Word r[13];
    Word sp, lr;
};
static_assert(sizeof(Registers) == 60);

struct Frame {
    Word pc, cpsr;
};

// The longest message that the kernel makes: a system call's, of a foreign system (docs/x2-arm.md).
constexpr Word kernel_message_words = 13;

namespace arch {
constexpr Word register_words = 17;  // of read_registers()
constexpr Word interrupt_lines = INTERRUPT_LINES;
}

// The port keeps nothing beside the control block.
struct ArchThread {};
struct FastEntry {};

// Where control blocks lie (core/thread.cpp). They are 13 cache lines long, of which an IPC uses the third and fourth,
// and a yield the first five and the twelfth. Each has 512 bytes and begins at their second line: so all of that is in
// five of the 8 sets of the SA-1110's data cache, and none of it in the one in which all pages begin.
constexpr Word thread_alignment = 32, thread_block = 512;
