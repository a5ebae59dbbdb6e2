// SPDX-License-Identifier: BSD-2-Clause
// The boot information as a root server sees it: its own command line and the payload modules.
#ifndef COBNUT_BOOT_H
#define COBNUT_BOOT_H
#include <l4/bootinfo.h>
#include <stddef.h>

namespace cobnut {

/// Gets the physical range [start, start + size) from sigma0, at the same addresses. False if sigma0 refuses a page.
bool map_physical(L4_Word_t start, L4_Word_t size);

/// The generic BootInfo, mapped on first use; null if there is none or it is damaged.
void *boot_info();

/// Copies the command line that the boot loader gave to the executable that contains this code; "" if unknown.
void own_command_line(char *out, size_t size);

/// A payload: a file as the boot loader read it.
struct Module {
    L4_Word_t start; ///< physical
    L4_Word_t size;  ///< bytes
    const char *command_line;
};

/// Payload module `index` (from 0), in boot order; false past the last. The contents are not mapped yet.
bool boot_module(unsigned index, Module &module);

} // namespace cobnut
#endif
