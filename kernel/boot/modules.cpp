// SPDX-License-Identifier: BSD-2-Clause
#include "boot/modules.hpp"

#include "arch/paging.hpp"
#include "boot/formats.hpp"
#include "core/arch.hpp"
#include "core/kip.hpp"
#include "core/string.hpp"

extern "C" char kernel_image[], kernel_image_end[];

namespace boot {
namespace {

constexpr Word kb = 1u << 10;
constexpr Word memory_min_mb = 8;
// of the memory, unless the option kmem= says otherwise; at most KERNEL_MEMORY_MOST (layout.hpp)
constexpr Word kernel_memory_share = 4;
constexpr Word modules_max = 32;
constexpr Word servers = 2;                     // the first ones
constexpr PAddr window_end = WINDOW_FIRST + WINDOW_BYTES;
constexpr Word text_room = 4096;                // all command lines together

struct Loaded {
    PAddr start, end;           // the module's file
    const char* command_line;
    bool executable;
    kip::Server server;
};
Loaded modules[modules_max];
Word module_count;
Word others;                    // bytes of pages of those behind the servers
char text[text_room];
Word text_used;

template <typename T>
T* at(PAddr p) {
    return static_cast<T*>(window(p));
}

const char* name(Word i) { return i == 0 ? "sigma0" : i == 1 ? "root server" : "module"; }

bool overlap(PAddr a, PAddr a_end, PAddr b, PAddr b_end) { return a < b_end && b < a_end; }

// What the loader puts into memory must not overlap the kernel, `ceiling`, or what is there already.
void check_target(Word i, PAddr start, Word bytes, PAddr ceiling) {
    PAddr image = physical(kernel_image), image_end = physical(kernel_image_end), end = start + bytes;
    if (!reachable(start, bytes) || end > ceiling) refuse(name(i), " does not fit: it wants memory up to ", hex(end));
    if (overlap(start, end, image, image_end)) refuse(name(i), " overlaps the kernel at ", hex(start));
    for (Word k = 0; k < i && k < servers; ++k)
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
    auto& h = *at<const elf::Header>(m.start);
    if (size < sizeof h || h.magic != elf::magic) refuse(name(i), " is not an ELF file");
    if (h.class_and_data != elf::class32_little || h.machine != elf::this_machine || h.type != elf::executable)
        refuse(name(i), " is no ELF executable for this processor");
    Word table = Word{h.program_header_count} * h.program_header_size;
    if (h.program_header_size < sizeof(elf::ProgramHeader) || h.program_headers > size ||
        table > size - h.program_headers)
        refuse(name(i), " is truncated: program headers are missing");
    m.server = {0, 0, ~Word{0}, 0};
    bool entry_found = false;
    for (Word n = 0; n < h.program_header_count; ++n) {
        auto& p = *program_header(m, h, n);
        if (p.type != elf::segment_load || !p.memory_size) continue;
        if (p.offset > size || p.file_size > size - p.offset) refuse(name(i), " is truncated: a segment is missing");
        if (p.file_size > p.memory_size || p.paddr + p.memory_size < p.paddr)
            refuse(name(i), " has an impossible segment");
        check_target(i, p.paddr, p.memory_size, ceiling);
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

// Moves modules up to `ceiling`, for a server may have to go where the boot loader left them, and returns where the
// lowest is. The highest is moved first, so that none is overwritten before it has been moved.
PAddr move_modules(Word first, Word end, PAddr ceiling) {
    bool moved[modules_max] = {};
    for (Word n = first; n < end; ++n) {
        Word highest = modules_max;
        for (Word i = first; i < end; ++i)
            if (!moved[i] && (highest == modules_max || modules[i].start > modules[highest].start)) highest = i;
        Loaded& m = modules[highest];
        Word size = m.end - m.start;
        PAddr to = (ceiling - size) & ~page_mask;
        if (ceiling - physical(kernel_image_end) < size || to < m.start) refuse("too little memory for the modules");
        move_module(to, m.start, size);
        m.start = to, m.end = to + size;
        ceiling = to;
        moved[highest] = true;
    }
    return ceiling;
}

// The end of the memory that the kernel can reach, by the descriptors in the interface page; the number of all pages,
// also out of its reach; and where the memory ends that goes on beyond the window, as far as users have such addresses.
PAddr memory_top(Word& pages, PAddr& end_beyond) {
    PAddr top = 0;
    end_beyond = window_end;
    for (Word i = 0; i < kip::descriptor_count(); ++i) {
        kip::MemoryDescriptor d = kip::descriptors()[i];
        if (d.is_virtual() || d.type() != kip::conventional) continue;
        pages += (d.last() - d.first() + 1) >> page_log2;
        if (!reachable(d.first(), 1)) continue;
        PAddr end = d.last() + 1;
        if (!reachable(d.last(), 1)) end_beyond = d.last() & ~page_mask, end = window_end;
        if (end > top) top = end;
    }
    if (end_beyond > paging::user_limit()) end_beyond = paging::user_limit();
    return top;
}

const char* keep_text(const char* s) {
    Word length = strlen(s) + 1;
    if (length > text_room - text_used) refuse("command lines of modules are too long");
    char* copy = text + text_used;
    memcpy(copy, s, length);
    text_used += length;
    return copy;
}

}  // namespace

void give_up() {
    print("\n");
    arch::power_off();
}

bool reachable(PAddr first, Word bytes) {
    return first - WINDOW_FIRST < WINDOW_BYTES && bytes <= WINDOW_BYTES - (first - WINDOW_FIRST);
}

void add_module(PAddr start, PAddr end, const char* command_line) {
    if (module_count == modules_max) refuse("more than ", modules_max, " modules");
    Word bytes = end - start;
    if (end < start || (module_count < servers && !reachable(start, bytes)))
        refuse("module ", module_count, " is out of reach");
    if (module_count >= servers) others += (bytes + page_mask) & ~page_mask;
    modules[module_count++] = {start, end, keep_text(command_line), false, {}};
}

Room place_modules(Word alignment, Word kernel_memory_kb) {
    if (module_count < servers) refuse("needs two modules, sigma0 and a root server; there are ", module_count);
    Word pages = 0;
    PAddr beyond;
    PAddr top = memory_top(pages, beyond) & ~page_mask;
    Word bytes = top - WINDOW_FIRST;
    if (bytes < memory_min_mb * mb)
        refuse("too little memory: ", bytes / mb, " MB, at least ", memory_min_mb, " are needed");
    Word pool = (pages / kernel_memory_share) << page_log2;
    if (pool > KERNEL_MEMORY_MOST) pool = KERNEL_MEMORY_MOST;
    if (kernel_memory_kb > bytes / 2 / kb)
        refuse("option kmem=", kernel_memory_kb, ": more than half of the memory (KB)");
    if (kernel_memory_kb) pool = kernel_memory_kb * kb;
    Room room;
    room.kernel_memory = (top - pool) & ~(alignment - 1);
    room.info = room.kernel_memory - boot_info::bytes;
    kip::describe(kip::reserved, room.kernel_memory, top - 1);
    // The kernel reads the files of the servers. The others go beyond its window if there is room for them.
    Word reached = module_count;
    if (others && others < beyond - window_end) {
        reached = servers;
        kip::describe(kip::boot_loader | 3 << 4, move_modules(servers, module_count, beyond), beyond - 1);
    }
    room.modules = move_modules(0, reached, room.info);
    for (Word i = 0; i < servers; ++i) {
        check_server(i, room.modules);
        load_server(i);
        auto& s = modules[i].server;
        kip::describe(kip::boot_loader | 2 << 4, s.low, s.high - 1);
    }
    kip::kip.sigma0 = modules[0].server;
    kip::kip.root = modules[1].server;
    return room;
}

void describe_modules(boot_info::Writer& writer) {
    for (Word i = 0; i < module_count; ++i) {
        Loaded& m = modules[i];
        if (m.executable) writer.executable(m.server, m.command_line);
        else writer.module(m.start, m.end - m.start, m.command_line);
    }
}

void finish(boot_info::Writer& writer, const Room& room) {
    if (!writer.finish()) refuse("the boot information is too long");
    kip::kip.boot_info = room.info;
    kip::describe(kip::boot_loader | 3 << 4, room.modules, room.info - 1);
    if (!kip::describe(kip::boot_loader | 1 << 4, room.info, room.kernel_memory - 1))
        refuse("the memory map is too long");
}

}  // namespace boot
