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
