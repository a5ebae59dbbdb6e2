// SPDX-License-Identifier: BSD-2-Clause
// Formats at boot: ELF32, and the generic BootInfo of the X.2 manual (appendix on BootInfo).
#pragma once

#include "arch/paging.hpp"
#include "core/x2.hpp"

namespace elf {

constexpr Word magic = 0x464c457f;
constexpr Word class32_little = 0x0101;     // e_ident[4..5]
constexpr std::uint16_t executable = 2, this_machine = ELF_MACHINE;
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
