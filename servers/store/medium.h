// SPDX-License-Identifier: BSD-2-Clause
// A part of a disk as littlefs sees a medium: blocks of a page, read and written by sectors.
#pragma once

#include <system/disk.h>

extern "C" {
#include <lfs.h>
}

namespace store {

class Medium {
public:
    explicit constexpr Medium(const char *service) : disk_(service) {}

    /// Opens the part, and says how long it is. Errors: of DiskPart::open; bad_value, it is too short.
    rpc::Error open();
    const lfs_config &configuration() const { return configuration_; }

private:
    using Word = rpc::Word;
    static constexpr Word sector = Disk::block_size, block = init::page_size;
    static constexpr Word patience_us = 20'000, attempts = 100; ///< for a driver that is started again

    template <typename Transfer> int insist(Transfer transfer);
    static Word place(lfs_block_t number, lfs_off_t offset) { return number * (block / sector) + offset / sector; }
    static Medium &of(const lfs_config *c) { return *static_cast<Medium *>(c->context); }
    static int read(const lfs_config *c, lfs_block_t number, lfs_off_t offset, void *to, lfs_size_t size);
    static int program(const lfs_config *c, lfs_block_t number, lfs_off_t offset, const void *from, lfs_size_t size);
    static int erase(const lfs_config *, lfs_block_t) { return 0; }
    static int sync(const lfs_config *c);

    cobnut::DiskPart disk_;
    lfs_config configuration_ = {};
    alignas(8) char read_buffer_[block] = {}, write_buffer_[block] = {}, free_blocks_[128] = {};
};

} // namespace store
