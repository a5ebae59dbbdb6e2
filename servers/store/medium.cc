// SPDX-License-Identifier: BSD-2-Clause
#include "medium.h"

#include <l4/schedule.h>

namespace store {

rpc::Error Medium::open()
{
    const auto sectors = disk_.open(1);
    if (!sectors) return sectors.error;
    lfs_config &c = configuration_;
    c.context = this;
    c.read = read;
    c.prog = program;
    c.erase = erase;
    c.sync = sync;
    c.read_size = c.prog_size = sector;
    c.block_size = c.cache_size = block;
    c.block_count = sectors.value / (block / sector);
    c.lookahead_size = sizeof free_blocks_;
    c.block_cycles = -1; // a disk wears out by itself
    c.read_buffer = read_buffer_;
    c.prog_buffer = write_buffer_;
    c.lookahead_buffer = free_blocks_;
    return c.block_count < 2 ? rpc::Error::bad_value : rpc::Error::none;
}

/// Does it again with the next driver, if one dies over it: the same blocks may be written twice.
template <typename Transfer> int Medium::insist(Transfer transfer)
{
    for (Word i = 0; i < attempts; i++) {
        const rpc::Result<rpc::Nothing> done = transfer();
        if (done) return 0;
        if (done.error == rpc::Error::failed) return LFS_ERR_IO;
        L4_Sleep(L4_TimePeriod(patience_us));
        disk_.open(1);
    }
    return LFS_ERR_IO;
}

int Medium::read(const lfs_config *c, lfs_block_t number, lfs_off_t offset, void *to, lfs_size_t size)
{
    Medium &m = of(c);
    const int error = m.insist([&] { return m.disk_.read(place(number, offset), size / sector); });
    if (!error) __builtin_memcpy(to, m.disk_.buffer(), size);
    return error;
}

int Medium::program(const lfs_config *c, lfs_block_t number, lfs_off_t offset, const void *from, lfs_size_t size)
{
    Medium &m = of(c);
    return m.insist([&] {
        __builtin_memcpy(m.disk_.buffer(), from, size);
        return m.disk_.write(place(number, offset), size / sector);
    });
}

int Medium::sync(const lfs_config *c)
{
    Medium &m = of(c);
    return m.insist([&] { return m.disk_.flush(); });
}

} // namespace store
