// SPDX-License-Identifier: BSD-2-Clause
#include "arm/loader.hpp"

#include "arch/paging.hpp"
#include "boot/modules.hpp"
#include "core/kip.hpp"
#include "core/string.hpp"

void boot::move_module(PAddr to, PAddr from, Word bytes) { memmove(window(to), window(from), bytes); }

namespace loader {
namespace {

// Tags (Linux, Documentation/arch/arm/setup.rst).
enum TagKind : Word {
    tag_core = 0x54410001,
    tag_memory = 0x54410002,
    tag_disk = 0x54420005,
    tag_command_line = 0x54410009
};
struct Tag {
    Word words, kind;           // words in all
    Word value[2];              // memory: size, start; disk: start, size
};

struct Disk {
    PAddr start;
    Word size;
};

// They lie in the first page of the memory, and that in the image's megabyte.
Disk read_tags(PAddr at) {
    Disk disk{0, 0};
    if (at - RAM_BASE >= page_size) boot::refuse("the loader has left no tag list");
    auto* tag = reinterpret_cast<const Tag*>(at - RAM_BASE + IMAGE);
    if (tag->kind != tag_core) boot::refuse("the loader has left no tag list");
    for (; tag->words >= 2 && tag->kind;
        tag = reinterpret_cast<const Tag*>(reinterpret_cast<const Word*>(tag) + tag->words)) {
        if (tag->kind == tag_memory && tag->value[0]) {
            // Memory beyond the kernel's reach is treated like a device: the kernel does not use it, and any space
            // that asks sigma0 gets it.
            constexpr PAddr reach = WINDOW_FIRST + WINDOW_BYTES - 1;
            PAddr first = tag->value[1], last = first + tag->value[0] - 1;
            if (last > reach) {
                kip::describe(kip::shared, first > reach ? first : reach + 1, last);
                last = reach;
            }
            if (first < last) kip::describe(kip::conventional, first, last);
        }
        // Options of the kernel's own: there are none yet.
        auto* text = reinterpret_cast<const char*>(tag->value);
        if (tag->kind == tag_command_line && *text) boot::refuse("option ", text, ": unknown; there are none");
        if (tag->kind == tag_disk) disk = {tag->value[0], tag->value[1]};
    }
    return disk;
}

// A member's header: the magic number, then numbers of eight hexadecimal digits.
constexpr Word header_bytes = 110, magic_bytes = 6, digits = 8;
enum Field : Word { field_size = 6, field_name_size = 11 };

Word number(const char* header, Field field) {
    Word n = 0;
    for (Word i = 0; i < digits; ++i) {
        char c = header[magic_bytes + field * digits + i];
        Word digit = c >= '0' && c <= '9'                     ? c - '0'
                     : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                              : 16;
        if (digit == 16) boot::refuse("the archive of the modules is damaged");
        n = n << 4 | digit;
    }
    return n;
}

Word padded(Word bytes) { return (bytes + 3) & ~3u; }

void collect_modules(Disk disk) {
    if (!disk.size || !boot::reachable(disk.start, disk.size))
        boot::refuse("the loader has left no archive of modules");
    for (Word at = 0;;) {
        auto* header = static_cast<const char*>(window(disk.start + at));
        if (disk.size - at < header_bytes || memcmp(header, "070701", magic_bytes) != 0)
            boot::refuse("the archive of the modules is damaged");
        Word name_size = number(header, field_name_size), size = number(header, field_size);
        Word data = padded(header_bytes + name_size);
        if (name_size == 0 || name_size > disk.size || data > disk.size - at || size > disk.size - at - data)
            boot::refuse("the archive of the modules is cut off");
        const char* name = header + header_bytes;
        if (name[name_size - 1] != 0) boot::refuse("the archive of the modules is damaged");
        if (strlen(name) == 10 && memcmp(name, "TRAILER!!!", 10) == 0) return;
        PAddr start = disk.start + at + data;
        boot::add_module(start, start + size, name);
        at += data + padded(size);
        if (at > disk.size) boot::refuse("the archive of the modules is cut off");
    }
}

}  // namespace

Memory load(PAddr tags) {
    kip::describe(kip::shared, 0, ~Word{0});
    // Addresses without memory may repeat the memory there is, the kernel's own included: no space gets them.
    kip::describe(kip::reserved, RAM_BASE, RAM_BASE + (RAM_SPAN - 1));
    collect_modules(read_tags(tags));
    boot::Room room = boot::place_modules(boot::mb);
    boot_info::Writer writer(room.info);
    boot::describe_modules(writer);
    boot::finish(writer, room);
    Memory memory{room.kernel_memory, 0};
    for (Word i = 0; i < kip::descriptor_count(); ++i) {
        kip::MemoryDescriptor d = kip::descriptors()[i];
        if (d.type() == kip::reserved && d.first() == memory.first) memory.last = d.last();
    }
    return memory;
}

}  // namespace loader
