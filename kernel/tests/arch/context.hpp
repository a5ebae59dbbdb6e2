// SPDX-License-Identifier: BSD-2-Clause
// Registers of a port that runs nothing: the host's unit tests.
#pragma once

#include "core/x2.hpp"

struct Registers {
    Word word[8];
};
struct Frame {
    Word word[5];
};
struct FastEntry {};
constexpr Word kernel_message_words = 12;

namespace arch {
constexpr Word register_words = 12;
constexpr Word interrupt_lines = 16;
}
struct ArchThread {};

constexpr Word thread_alignment = 64, thread_block = page_size;
