// SPDX-License-Identifier: BSD-2-Clause
// Formats at boot: multiboot 0.6.96, ELF32, and the generic BootInfo of the X.2 manual (appendix on BootInfo).
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

namespace elf {

constexpr Word magic = 0x464c457f;
constexpr Word class32_little = 0x0101;     // e_ident[4..5]
constexpr std::uint16_t executable = 2, machine_386 = 3;
constexpr Word segment_load = 1;

struct Header {
    Word magic;
    std::uint16_t class_and_data;
    std::uint8_t ident[10];
    std::uint16_t type, machine;
    Word version, entry, program_headers, section_headers, flags;
    std::uint16_t header_size, program_header_size, program_header_count;
    std::uint16_t section[3];
};
struct ProgramHeader {
    Word type, offset, vaddr, paddr, file_size, memory_size, flags, align;
};

}  // namespace elf

namespace bootinfo {

constexpr Word magic = 0x14b0021d;
enum RecordType : Word { module = 0x1, simple_executable = 0x2, multiboot_info = 0x102 };

struct Header {
    Word magic, version, size, first_record, records, reserved[3];
};
struct Record {
    Word type, version, next;
};
struct Module {
    Record record;
    Word start, size, command_line;
};
struct Executable {
    Record record;
    struct Part {
        Word pstart, vstart, size;
    } text, data, bss;
    Word ip, flags, label, command_line;
};

}  // namespace bootinfo
