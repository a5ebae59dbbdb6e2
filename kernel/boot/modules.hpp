// SPDX-License-Identifier: BSD-2-Clause
// What an X.2 boot loader does before the kernel runs (sheet 6.8), for boards whose loader starts the kernel itself:
// from files in memory to initial servers, memory descriptors and BootInfo in the interface page.
#pragma once

#include "boot/boot_info.hpp"
#include "core/print.hpp"
#include "core/x2.hpp"

namespace boot {

constexpr Word mb = 1u << 20;

// Ends a boot that has failed, after a line that says why.
[[noreturn]] void give_up();
template <typename... Ts>
[[noreturn]] void refuse(Ts... why) {
    print("cobnut: ", why...);
    give_up();
}

// Whether all bytes lie in the kernel's window on physical memory.
bool reachable(PAddr first, Word bytes);

// The files that the loader has left, in order: sigma0, root server, and any others. The command line is kept.
void add_module(PAddr start, PAddr end, const char* command_line);

// Moves a file's `bytes` up, `to` the start of a page; the ranges may overlap. The board's loader knows how.
void move_module(PAddr to, PAddr from, Word bytes);

// Where things go at the top of the memory.
struct Room {
    PAddr kernel_memory;        // from here on the kernel's own, up to the top
    PAddr info;                 // below it: the BootInfo
    PAddr modules;              // below it: modules that are no servers
};
// Reserves kernel memory, at a multiple of `alignment`, of that many KB (0: a share of all memory), moves the modules
// below it, loads the first two where they are linked, and puts both into the interface page.
Room place_modules(Word alignment, Word kernel_memory_kb = 0);
// Begins the BootInfo with a record for each module. The board may add to it.
void describe_modules(boot_info::Writer& writer);
// Completes it, and describes in the interface page what has been placed.
void finish(boot_info::Writer& writer, const Room& room);

}  // namespace boot
