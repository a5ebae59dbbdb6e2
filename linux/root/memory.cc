// SPDX-License-Identifier: BSD-2-Clause
#include "memory.h"

#include <l4/kip.h>
#include <l4/sigma0.h>

extern "C" void *memset(void *, int, size_t);
extern "C" void *memcpy(void *, const void *, size_t);

namespace linux_root {
namespace {

constexpr L4_Word_t megabyte = 1u << 20;
alignas(4096) constinit char no_screen[4096] = {}; // what is drawn while there is no display

constexpr L4_Word_t least_aliases = 16 * megabyte, most_aliases = 256 * megabyte;

/// Of conventional memory, in MB.
L4_Word_t machine_megabytes()
{
    void *kip = L4_GetKernelInterface();
    L4_Word_t highest = 0;
    for (L4_Word_t i = 0; i < L4_NumMemoryDescriptors(kip); i++) {
        L4_MemoryDesc_t *m = L4_MemoryDesc(kip, i);
        if (L4_IsMemoryDescVirtual(m) || L4_MemoryDescType(m) != L4_ConventionalMemoryType) continue;
        if (L4_MemoryDescHigh(m) > highest) highest = L4_MemoryDescHigh(m);
    }
    return (highest >> 20) + 1;
}

} // namespace

L4_Word_t Memory::here(L4_Word_t address) const
{
    const L4_Word_t offset = address - SERVER_START;
    return pieces_[offset >> piece_log2] + (offset & (piece - 1));
}

bool Memory::get_pieces(L4_Word_t count)
{
    while (got_ < count) {
        const L4_Fpage_t got = L4_Sigma0_GetAny(L4_nilthread, piece_log2, L4_CompleteAddressSpace);
        if (L4_IsNilFpage(got)) return false;
        pieces_[got_++] = L4_Address(got);
    }
    return true;
}

template <typename Do> void Memory::for_each_part(L4_Word_t to, L4_Word_t size, Do what)
{
    for (L4_Word_t done = 0; done < size;) {
        L4_Word_t bytes = piece - ((to + done) & (piece - 1));
        if (bytes > size - done) bytes = size - done;
        what(reinterpret_cast<void *>(here(to + done)), done, bytes);
        done += bytes;
    }
}

void Memory::copy(L4_Word_t to, const void *from, L4_Word_t size)
{
    const char *source = static_cast<const char *>(from);
    for_each_part(to, size, [&](void *at, L4_Word_t done, L4_Word_t bytes) { memcpy(at, source + done, bytes); });
}

void Memory::clear(L4_Word_t to, L4_Word_t size)
{
    for_each_part(to, size, [](void *at, L4_Word_t, L4_Word_t bytes) { memset(at, 0, bytes); });
}

const char *Memory::load(const cobnut::Module &server, const cobnut::Module &initrd, unsigned megabytes, unsigned disk,
                         unsigned slot, bool screen)
{
    if (!cobnut::map_physical(server.start, server.size) || !cobnut::map_physical(initrd.start, initrd.size))
        return "sigma0 refuses the modules' memory";
    const L4_Word_t screen_room = screen ? L4_Word_t{1} << SCREEN_LOG2 : 0;
    const L4_Word_t room = (slot ? slot * megabyte : 0xB0000000u) - SERVER_START - screen_room;
    disk_pieces_ = (disk + piece / megabyte - 1) / (piece / megabyte);
    const L4_Word_t space = (room - least_aliases) / piece;
    if (disk_pieces_ > space) return "the server's space has no room for so large a disk";
    const L4_Word_t most = space - disk_pieces_;
    L4_Word_t count = (megabytes ? megabytes : machine_megabytes() / 2) / (piece / megabyte);
    if (megabytes && count > most) return "the server's space has no room for so much memory";
    if (count > most) count = most;
    if (count > most_pieces - disk_pieces_) count = most_pieces - disk_pieces_;
    if (!get_pieces(count + disk_pieces_)) return "the machine has too little memory for what the server is to get";

    count_ = count;
    const void *file = reinterpret_cast<const void *>(server.start);
    const L4_Word_t initrd_size = (initrd.size + page - 1) & -page;
    if (end() - SERVER_START < initrd_size + tail + 8 * megabyte) return "too little memory for the server";
    const L4_Word_t initrd_start = end() - tail - initrd_size;
    const cobnut::ElfError error = cobnut::parse_elf(file, server.size, SERVER_START, initrd_start, image_);
    if (error != cobnut::ElfError::none) {
        static char text[80] = "the server's file ";
        const char *what = cobnut::describe(error);
        for (size_t at = 18; *what && at + 1 < sizeof text; at++) text[at] = *what++;
        return text;
    }
    for (size_t i = 0; i < image_.count; i++) {
        const cobnut::ElfSegment &s = image_.segments[i];
        copy(s.address, static_cast<const char *>(file) + s.offset, s.file_size);
        clear(s.address + s.file_size, s.memory_size - s.file_size);
    }
    copy(initrd_start, reinterpret_cast<const void *>(initrd.start), initrd.size);

    aliases_end_ = room + SERVER_START;
    if (aliases_end_ - disk_end() > most_aliases) aliases_end_ = disk_end() + most_aliases;
    screen_start_ = screen ? (aliases_end_ + screen_room - 1) & -screen_room : 0;
    clear(boot_address(), page);
    server_boot &b = boot();
    b.memory_end = end() - tail;
    b.disk_start = end();
    b.disk_end = disk_end();
    b.aliases_end = aliases_end_;
    b.screen_start = screen_start_;
    b.initrd_start = initrd_start;
    b.initrd_size = initrd.size;
    return nullptr;
}

bool Memory::resolve(L4_Word_t address, L4_MapItem_t &item) const
{
    if (address < SERVER_START || address >= disk_end()) return false;
    const L4_Word_t base = address & -piece;
    item = L4_MapItem(L4_FpageLog2(here(base), piece_log2) + L4_FullyAccessible, base);
    return true;
}

bool Memory::resolve_screen(L4_Word_t address, L4_MapItem_t &item) const
{
    if (!screen_start_ || (address ^ screen_start_) >> SCREEN_LOG2) return false;
    *const_cast<volatile char *>(no_screen) = 0; // it can be mapped once it is here
    const L4_Word_t there = reinterpret_cast<L4_Word_t>(no_screen);
    item = L4_MapItem(L4_FpageLog2(there, page_log2) + L4_FullyAccessible, address & -page);
    return true;
}

bool Memory::load_aliases(L4_Word_t address, const L4_Word_t *pages, L4_Word_t count) const
{
    if (address < disk_end() || address >= aliases_end_ || aliases_end_ - address < count * page) return false;
    for (L4_Word_t i = 0; i < count; i++) {
        if (pages[i] < SERVER_START || pages[i] >= end()) return false;
        const L4_MapItem_t item =
            L4_MapItem(L4_FpageLog2(here(pages[i]), page_log2) + L4_FullyAccessible, address + i * page);
        L4_LoadMR(static_cast<int>(1 + 2 * i), item.raw[0]);
        L4_LoadMR(static_cast<int>(2 + 2 * i), item.raw[1]);
    }
    L4_Set_MsgTag(L4_MsgTag_t{.raw = count * 2 << 6});
    return true;
}

} // namespace linux_root
