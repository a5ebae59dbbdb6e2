// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/loader.hpp"

#include "arch/paging.hpp"
#include "boot/formats.hpp"
#include "boot/modules.hpp"
#include "core/kip.hpp"
#include "core/string.hpp"
#include "ia32/page_tables.hpp"
#include "pc/multiboot.hpp"

// From page to page, since memory beyond the window is seen by the page. The boot loader was asked for whole ones.
void boot::move_module(PAddr to, PAddr from, Word bytes) {
    using namespace page_tables;
    for (Word left = (bytes + page_mask) & ~page_mask; left;) {
        left -= page_size;
        const char* source = beyond_window(from + left, READ_PAGE, present);
        memcpy(beyond_window(to + left, WRITE_PAGE, present | writable), source, page_size);
    }
}

namespace loader {
namespace {

using boot::mb;

template <typename T>
T* at(PAddr p) {
    return static_cast<T*>(window(p));
}

void describe_memory(const multiboot::Info& info) {
    auto add = [](Word type, std::uint64_t first, std::uint64_t last) {
        if (first > ~Word{0}) return;
        if (last > ~Word{0}) last = ~Word{0};
        kip::describe(type, static_cast<Word>(first), static_cast<Word>(last));
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

void collect_modules(const multiboot::Info& info) {
    Word count = info.flags & multiboot::has_modules ? info.module_count : 0;
    for (Word i = 0; i < count; ++i) {
        auto m = at<multiboot::Module>(info.modules)[i];
        bool named = m.command_line && boot::reachable(m.command_line, 1);
        boot::add_module(m.start, m.end, named ? at<const char>(m.command_line) : "");
    }
}

}  // namespace

bool page_is_patched() { return kip::kip.root.ip != 0; }

void load(Word magic, PAddr info_at, Word kernel_memory_kb) {
    if (magic != multiboot_magic || !boot::reachable(info_at, sizeof(multiboot::Info)))
        boot::refuse("neither multiboot nor an X.2 boot loader");
    auto info = *at<multiboot::Info>(info_at);
    kip::kip.memory_info &= 0xffff0000;
    describe_memory(info);
    kip::describe(kip::shared, 0xa0000, 0xeffff);
    collect_modules(info);

    boot::Room room = boot::place_modules(page_size, kernel_memory_kb);
    boot_info::Writer writer(room.info);
    boot::describe_modules(writer);
    // The copy leaves out what was moved or is not valid any more.
    info.flags &= multiboot::has_memory;
    writer.loaders_own(bootinfo::multiboot_info, &info, sizeof info);
    boot::finish(writer, room);
}

}  // namespace loader
