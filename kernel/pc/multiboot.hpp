// SPDX-License-Identifier: BSD-2-Clause
// What a multiboot loader (0.6.96) leaves in memory.
#pragma once

#include "core/x2.hpp"

namespace multiboot {

enum Flags : Word { has_memory = 1, has_command_line = 4, has_modules = 8, has_memory_map = 64 };

struct Info {
    Word flags, mem_lower_kb, mem_upper_kb, boot_device, command_line, module_count, modules, symbols[4];
    Word memory_map_length, memory_map;
};
struct Module {
    Word start, end, command_line, reserved;
};
struct [[gnu::packed]] MapEntry {
    Word size;          // of what follows
    std::uint64_t base, length;
    Word type;          // 1: memory
};

}  // namespace multiboot
