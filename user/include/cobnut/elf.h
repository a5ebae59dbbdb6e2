// SPDX-License-Identifier: BSD-2-Clause
// Reads and checks an ELF32 executable without trusting a byte of it. Compiles on the host for its tests.
#ifndef COBNUT_ELF_H
#define COBNUT_ELF_H
#include <stddef.h>
#include <stdint.h>

namespace cobnut {

struct ElfSegment {
    uint32_t offset;      ///< in the file
    uint32_t file_size;
    uint32_t address;     ///< virtual
    uint32_t memory_size; ///< >= file_size; the rest is zero
    bool writable;
};

struct ElfImage {
    static constexpr size_t max_segments = 8;
    uint32_t entry = 0;
    size_t count = 0;
    ElfSegment segments[max_segments] = {};
};

enum class ElfError {
    none,
    truncated,   ///< a header or a segment reaches past the end of the file
    not_elf,     ///< no 32-bit little-endian IA-32 executable
    bad_segment, ///< outside the allowed addresses, or larger in the file than in memory
    overlapping, ///< two segments claim the same address
    bad_entry,   ///< the start address is in no segment
};

/// What is wrong, as the end of a sentence that starts with the file's name.
const char *describe(ElfError error);

/// Fills `image` from a file; every segment lies within [low, high). `image` is only valid without an error.
ElfError parse_elf(const void *file, size_t size, uint32_t low, uint32_t high, ElfImage &image);

} // namespace cobnut
#endif
