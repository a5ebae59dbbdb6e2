// SPDX-License-Identifier: BSD-2-Clause
// What an X.2 boot loader does before the kernel runs (sheet 6.8): done by the kernel itself when multiboot started it
// directly, with the modules sigma0, root server, and any others.
#pragma once

#include "core/x2.hpp"

namespace loader {

constexpr Word multiboot_magic = 0x2badb002;

// The kernel's own options, from the boot loader.
struct Options {
    Word small_area_mb = 512;
    bool sysenter = true;
    bool fast_path = true;
    Word trace_kb = 0;
    Word kernel_memory_kb = 0;      // 0: a share of what there is
    bool automatic = true;          // slots::Rules
    bool groups = true;
    bool lazy_revocation = true;    // ia32/hosts.hpp
};

// Parses the command line; refuses to go on with one line if an option is unknown or absurd.
Options options(Word magic, PAddr multiboot_info);
// True if an X.2 loader has filled in the interface page.
bool page_is_patched();
// Loads sigma0 and the root server, and fills in the interface page: servers, memory descriptors, BootInfo. Refuses
// with one line what it cannot load. `kernel_memory_kb` is the option of that name.
void load(Word magic, PAddr multiboot_info, Word kernel_memory_kb);

}  // namespace loader
