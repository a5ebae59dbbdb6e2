// SPDX-License-Identifier: BSD-2-Clause
// The server's memory: pieces of 4 MB, anywhere in physical memory, one after the other in the server's space.
#pragma once

#include <cobnut/boot.h>
#include <cobnut/elf.h>
#include <l4/message.h>

#include <server.h>

namespace linux_root {

class Memory {
public:
    /// Gets `megabytes` (0: half of what there is) and `disk` MB that outlive the server from sigma0, if it has not got
    /// them yet, and loads the modules; `slot` is the size of the space if that is small. With `screen` there are
    /// addresses for a display's memory behind all others. Returns what is wrong, or null.
    const char *load(const cobnut::Module &server, const cobnut::Module &initrd, unsigned megabytes, unsigned disk,
                     unsigned slot, bool screen);

    L4_Word_t entry() const { return image_.entry; }
    server_boot &boot() { return *reinterpret_cast<server_boot *>(here(boot_address())); }
    /// The server's first stack pointer: below the boot structure, whose address it is.
    L4_Word_t stack() const { return boot_address(); }

    /// What is to be mapped at a fault of the server's; false outside of its memory and its disk.
    bool resolve(L4_Word_t address, L4_MapItem_t &item) const;
    /// What is to be mapped there if no display's memory is: a page that stands for all of them.
    bool resolve_screen(L4_Word_t address, L4_MapItem_t &item) const;
    /// Loads an answer that maps pages of the server's at `address` and behind it; false if they are not its own, or
    /// `address` is not among those for aliases.
    bool load_aliases(L4_Word_t address, const L4_Word_t *pages, L4_Word_t count) const;

private:
    static constexpr int piece_log2 = 22, page_log2 = 12;
    static constexpr L4_Word_t piece = 1u << piece_log2, page = 1u << page_log2;
    static constexpr L4_Word_t most_pieces = 512;
    static constexpr L4_Word_t tail = 4 * page; // the first stack and the boot structure

    L4_Word_t end() const { return SERVER_START + count_ * piece; }
    L4_Word_t disk_end() const { return end() + disk_pieces_ * piece; }
    L4_Word_t boot_address() const { return end() - page; }
    L4_Word_t here(L4_Word_t address) const;
    bool get_pieces(L4_Word_t count);
    template <typename Do> void for_each_part(L4_Word_t to, L4_Word_t size, Do what);
    void clear(L4_Word_t to, L4_Word_t size);
    void copy(L4_Word_t to, const void *from, L4_Word_t size);

    L4_Word_t pieces_[most_pieces] = {}; // where they are for root: their physical addresses
    L4_Word_t count_ = 0; // of them; behind them those of the disk
    L4_Word_t disk_pieces_ = 0, got_ = 0, aliases_end_ = 0, screen_start_ = 0;
    cobnut::ElfImage image_;
};

} // namespace linux_root
