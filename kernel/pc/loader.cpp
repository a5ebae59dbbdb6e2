// SPDX-License-Identifier: BSD-2-Clause
#include "pc/loader.hpp"

#include "arch/paging.hpp"
#include "core/arch.hpp"
#include "core/kip.hpp"
#include "core/print.hpp"
#include "core/string.hpp"
#include "pc/boot_info.hpp"
#include "pc/multiboot.hpp"

extern "C" char kernel_image[], kernel_image_end[];

namespace loader {
namespace {

constexpr Word mb = 1u << 20;
constexpr Word memory_min_mb = 8;
constexpr Word kernel_memory_max_mb = 16;
constexpr Word kernel_memory_share = 4;         // at most a quarter of the memory
constexpr Word modules_max = 32;
constexpr Word text_room = 4096;                // all command lines together

struct Loaded {
    PAddr start, end;           // the module's file
    const char* command_line;
    bool executable;
    kip::Server server;
};
Loaded modules[modules_max];
Word module_count;
char text[text_room];
Word text_used;

template <typename... Ts>
[[noreturn]] void refuse(Ts... why) {
    print("cobnut: ", why..., "\n");
    arch::power_off();
}

template <typename T>
T* at(PAddr p) {
    return static_cast<T*>(window(p));
}

bool reachable(PAddr first, Word bytes) { return first < WINDOW_BYTES && bytes <= WINDOW_BYTES - first; }

const char* keep_text(PAddr p) {
    if (!p || !reachable(p, 1)) return "";
    const char* s = at<const char>(p);
    Word length = strlen(s) + 1;
    if (length > text_room - text_used) refuse("command lines of the modules are longer than ", text_room, " bytes");
    char* copy = text + text_used;
    memcpy(copy, s, length);
    text_used += length;
    return copy;
}

const char* name(Word i) { return i == 0 ? "sigma0" : i == 1 ? "root server" : "module"; }

void describe_memory(const multiboot::Info& info) {
    auto add = [](Word type, std::uint64_t first, std::uint64_t last) {
        if (first > ~Word{0}) return;
        if (last > ~Word{0}) last = ~Word{0};
        kip::add(kip::MemoryDescriptor::make(type, static_cast<Word>(first), static_cast<Word>(last)));
    };
    add(kip::shared, 0, ~Word{0});
    if (info.flags & multiboot::has_memory_map) {
        for (PAddr p = info.memory_map; p < info.memory_map + info.memory_map_length;) {
            auto e = *at<multiboot::MapEntry>(p);
            Word type = e.type == 1 ? Word{kip::conventional} : kip::arch_specific | (e.type & 0xf) << 4;
            if (e.length) add(type, e.base, e.base + e.length - 1);
            p += e.size + sizeof e.size;
        }
    } else if (info.flags & multiboot::has_memory) {
        if (info.mem_lower_kb) add(kip::conventional, 0, info.mem_lower_kb * 1024 - 1);
        if (info.mem_upper_kb) add(kip::conventional, mb, mb + info.mem_upper_kb * 1024 - 1);
    }
}

bool overlap(PAddr a, PAddr a_end, PAddr b, PAddr b_end) { return a < b_end && b < a_end; }

// Everything that the loader puts into memory must stay clear of the kernel, of `ceiling`, and of what is there.
void check_target(Word i, PAddr start, PAddr end, PAddr ceiling) {
    PAddr image = physical(kernel_image), image_end = physical(kernel_image_end);
    if (end > ceiling) refuse(name(i), " does not fit: it wants memory up to ", hex(end));
    if (overlap(start, end, image, image_end)) refuse(name(i), " overlaps the kernel at ", hex(start));
    for (Word k = 0; k < i && k < 2; ++k)
        if (overlap(start, end, modules[k].server.low, modules[k].server.high))
            refuse(name(i), " overlaps ", name(k), " at ", hex(start));
}

const elf::ProgramHeader* program_header(const Loaded& m, const elf::Header& h, Word n) {
    return at<const elf::ProgramHeader>(m.start + h.program_headers + n * h.program_header_size);
}

// Checks a server's file and finds where it goes; load_server() then cannot fail.
void check_server(Word i, PAddr ceiling) {
    Loaded& m = modules[i];
    Word size = m.end - m.start;
    if (size < sizeof(elf::Header)) refuse(name(i), " is truncated: ", size, " bytes");
    auto& h = *at<const elf::Header>(m.start);
    if (h.magic != elf::magic) refuse(name(i), " is not an ELF file");
    if (h.class_and_data != elf::class32_little || h.machine != elf::machine_386 || h.type != elf::executable)
        refuse(name(i), " is not an ELF executable for this processor");
    Word table = Word{h.program_header_count} * h.program_header_size;
    if (h.program_header_size < sizeof(elf::ProgramHeader) || h.program_headers > size || table > size - h.program_headers)
        refuse(name(i), " is truncated: its program headers are missing");
    m.server = {0, 0, ~Word{0}, 0};
    bool entry_found = false;
    for (Word n = 0; n < h.program_header_count; ++n) {
        auto& p = *program_header(m, h, n);
        if (p.type != elf::segment_load || !p.memory_size) continue;
        if (p.offset > size || p.file_size > size - p.offset) refuse(name(i), " is truncated: a segment is missing");
        if (p.file_size > p.memory_size || p.paddr + p.memory_size < p.paddr) refuse(name(i), " has an impossible segment");
        check_target(i, p.paddr, p.paddr + p.memory_size, ceiling);
        if (p.paddr < m.server.low) m.server.low = p.paddr;
        if (p.paddr + p.memory_size > m.server.high) m.server.high = p.paddr + p.memory_size;
        if (h.entry >= p.vaddr && h.entry - p.vaddr < p.memory_size) {
            m.server.ip = h.entry;
            entry_found = true;
        }
    }
    if (!entry_found) refuse(name(i), " has no code at its entry point");
    m.executable = true;
}

void load_server(Word i) {
    Loaded& m = modules[i];
    auto& h = *at<const elf::Header>(m.start);
    for (Word n = 0; n < h.program_header_count; ++n) {
        auto& p = *program_header(m, h, n);
        if (p.type != elf::segment_load || !p.memory_size) continue;
        memcpy(window(p.paddr), window(m.start + p.offset), p.file_size);
        memset(at<char>(p.paddr + p.file_size), 0, p.memory_size - p.file_size);
    }
}

// Moves all modules to the top of the memory, below `ceiling`: where the boot loader left them, a server may belong.
// The one that lies highest goes first, so that none is written over before it has moved.
PAddr move_modules(PAddr ceiling) {
    bool moved[modules_max] = {};
    for (Word n = 0; n < module_count; ++n) {
        Word highest = modules_max;
        for (Word i = 0; i < module_count; ++i)
            if (!moved[i] && (highest == modules_max || modules[i].start > modules[highest].start)) highest = i;
        Loaded& m = modules[highest];
        Word size = m.end - m.start;
        if (ceiling < physical(kernel_image_end) + size) refuse("too little memory for the modules");
        PAddr to = (ceiling - size) & ~page_mask;
        if (to < m.start) refuse("too little memory for the modules");
        memmove(window(to), window(m.start), size);
        m.start = to, m.end = to + size;
        ceiling = to;
        moved[highest] = true;
    }
    return ceiling;
}

void collect_modules(const multiboot::Info& info) {
    Word count = info.flags & multiboot::has_modules ? info.module_count : 0;
    if (count < 2) refuse("two modules at least are needed: sigma0 and a root server; there are ", count);
    if (count > modules_max) refuse("more than ", modules_max, " modules");
    for (Word i = 0; i < count; ++i) {
        auto m = at<multiboot::Module>(info.modules)[i];
        if (m.end < m.start || !reachable(m.start, m.end - m.start)) refuse("module ", i, " is out of reach");
        modules[i] = {m.start, m.end, keep_text(m.command_line), false, {}};
    }
    module_count = count;
}

}  // namespace

bool page_is_patched() { return kip::kip.root.ip != 0; }

PAddr memory_top() {
    PAddr top = 0;
    for (Word i = 0; i < kip::descriptor_count(); ++i) {
        kip::MemoryDescriptor d = kip::descriptors()[i];
        if (d.is_virtual() || d.type() != kip::conventional) continue;
        PAddr end = d.last() >= WINDOW_BYTES ? WINDOW_BYTES : d.last() + 1;
        if (end > top) top = end;
    }
    return top;
}

void load(Word magic, PAddr info_at) {
    if (magic != multiboot_magic || !reachable(info_at, sizeof(multiboot::Info)))
        refuse("started neither by multiboot nor by an X.2 boot loader");
    auto info = *at<multiboot::Info>(info_at);
    kip::kip.memory_info &= 0xffff0000;
    describe_memory(info);
    collect_modules(info);

    PAddr top = memory_top() & ~page_mask;
    if (top < memory_min_mb * mb)
        refuse("too little memory: ", top / mb, " MB, at least ", memory_min_mb, " are needed");
    Word pool = top / kernel_memory_share;
    if (pool > kernel_memory_max_mb * mb) pool = kernel_memory_max_mb * mb;
    PAddr pool_start = (top - pool) & ~page_mask;
    kip::add(kip::MemoryDescriptor::make(kip::reserved, pool_start, top - 1));
    kip::add(kip::MemoryDescriptor::make(kip::shared, 0xa0000, 0xeffff));

    PAddr info_start = pool_start - boot_info::bytes;
    PAddr ceiling = move_modules(info_start);
    for (Word i = 0; i < 2; ++i) {
        check_server(i, ceiling);
        load_server(i);
        auto& s = modules[i].server;
        kip::add(kip::MemoryDescriptor::make(kip::boot_loader | 2 << 4, s.low, s.high - 1));
    }
    kip::kip.sigma0 = modules[0].server;
    kip::kip.root = modules[1].server;

    boot_info::Writer writer(info_start);
    for (Word i = 0; i < module_count; ++i) {
        Loaded& m = modules[i];
        if (m.executable)
            writer.executable(m.server, m.command_line);
        else
            writer.module(m.start, m.end - m.start, m.command_line);
    }
    writer.multiboot(info);
    if (!writer.finish()) refuse("too many modules for the boot information");
    kip::kip.boot_info = info_start;
    if (ceiling < info_start) kip::add(kip::MemoryDescriptor::make(kip::boot_loader | 3 << 4, ceiling, info_start - 1));
    if (!kip::add(kip::MemoryDescriptor::make(kip::boot_loader | 1 << 4, info_start, pool_start - 1)))
        refuse("the memory map is too long");
}

}  // namespace loader
