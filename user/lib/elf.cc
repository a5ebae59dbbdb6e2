// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/elf.h>
#include "elf_machine.h"

namespace cobnut {
namespace {

// Field offsets of the ELF32 header and of a program header.
constexpr size_t header_size = 52, program_header_size = 32;
constexpr size_t e_type = 16, e_machine = 18, e_entry = 24, e_phoff = 28, e_phentsize = 42, e_phnum = 44;
constexpr size_t p_type = 0, p_offset = 4, p_vaddr = 8, p_filesz = 16, p_memsz = 20, p_flags = 24;
constexpr unsigned type_executable = 2, segment_load = 1, flag_write = 2;

uint32_t read(const uint8_t *p, size_t bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++) value |= uint32_t{p[i]} << (8 * i);
    return value;
}

ElfError check_segment(const ElfSegment &s, size_t file, uint32_t low, uint32_t high, const ElfImage &image)
{
    if (s.offset > file || file - s.offset < s.file_size) return ElfError::truncated;
    if (s.file_size > s.memory_size) return ElfError::bad_segment;
    if (s.address < low || s.address >= high || high - s.address < s.memory_size) return ElfError::bad_segment;
    for (size_t i = 0; i < image.count; i++) {
        const ElfSegment &other = image.segments[i];
        if (s.address < other.address + other.memory_size && other.address < s.address + s.memory_size)
            return ElfError::overlapping;
    }
    return ElfError::none;
}

} // namespace

const char *describe(ElfError error)
{
    switch (error) {
    case ElfError::none: return "is fine";
    case ElfError::truncated: return "is truncated";
    case ElfError::not_elf: return "is not a 32-bit " COBNUT_MACHINE_NAME " ELF executable";
    case ElfError::bad_segment: return "has a segment outside the memory for programs";
    case ElfError::overlapping: return "has overlapping segments";
    case ElfError::bad_entry: return "starts outside its own segments";
    }
    return "is damaged";
}

ElfError parse_elf(const void *file, size_t size, uint32_t low, uint32_t high, ElfImage &image)
{
    const auto *bytes = static_cast<const uint8_t *>(file);
    image = ElfImage{};
    if (size < 4) return ElfError::not_elf;
    if (bytes[0] != 0x7F || bytes[1] != 'E' || bytes[2] != 'L' || bytes[3] != 'F') return ElfError::not_elf;
    if (size < header_size) return ElfError::truncated;
    if (bytes[4] != 1 || bytes[5] != 1) return ElfError::not_elf;
    if (read(bytes + e_type, 2) != type_executable || read(bytes + e_machine, 2) != this_machine)
        return ElfError::not_elf;
    const uint32_t table = read(bytes + e_phoff, 4);
    const uint32_t entry_size = read(bytes + e_phentsize, 2), entries = read(bytes + e_phnum, 2);
    if (entry_size < program_header_size) return ElfError::not_elf;
    if (table > size || (size - table) / entry_size < entries) return ElfError::truncated;
    for (uint32_t i = 0; i < entries; i++) {
        const uint8_t *p = bytes + table + i * entry_size;
        if (read(p + p_type, 4) != segment_load || read(p + p_memsz, 4) == 0) continue;
        const ElfSegment segment{read(p + p_offset, 4), read(p + p_filesz, 4), read(p + p_vaddr, 4),
                                 read(p + p_memsz, 4), (read(p + p_flags, 4) & flag_write) != 0};
        if (image.count == ElfImage::max_segments) return ElfError::bad_segment;
        if (const ElfError e = check_segment(segment, size, low, high, image); e != ElfError::none) return e;
        image.segments[image.count++] = segment;
    }
    image.entry = read(bytes + e_entry, 4);
    for (size_t i = 0; i < image.count; i++)
        if (image.entry - image.segments[i].address < image.segments[i].memory_size) return ElfError::none;
    return ElfError::bad_entry;
}

} // namespace cobnut
