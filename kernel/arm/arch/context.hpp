// SPDX-License-Identifier: BSD-2-Clause
// The user registers of a thread, in the order in which entry.S moves them.
#pragma once

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

// Nothing beside the control block.
struct ArchThread {};
struct FastEntry {};

// Where control blocks lie (core/thread.cpp). They are 13 cache lines long, of which an IPC uses the third and fourth:
// two of them in a kilobyte, from its second line on. With 10 lines there were three, which shared the 8 sets of the
// SA-1110's data cache evenly; what they grew by costs wiggins03/fig4 some percent, and is worth taking out again.
constexpr Word thread_alignment = 32, thread_block = 1024;
