// SPDX-License-Identifier: BSD-2-Clause
// A part of a disk, for a program that uses it (servers/interfaces/disk.h): session and buffer in one.
#pragma once

#include <interfaces/disk.h>
#include <system/memory.h>

namespace cobnut {

class DiskPart {
    using Word = rpc::Word;
    using Nothing = rpc::Nothing;

public:
    /// Of the service that the caller's description names in `uses`.
    explicit constexpr DiskPart(const char *service) : service_(service), session_(service) {}

    /// Makes a buffer of so many pages and opens the part; how many blocks it has. Once more after a driver has died.
    rpc::Result<Word> open(Word pages)
    {
        if (!buffer_) {
            const auto made = make_memory(pages);
            if (!made) return made.error;
            handle_ = made.value.handle;
            buffer_ = made.value.address;
        }
        const auto part = session_.call<Disk::Open>(init::Name(service_));
        if (!part) return part.error;
        const auto passed = ask_init<init::Pass>(handle_, session_.server().raw, Word{1});
        if (!passed) return passed.error;
        const auto taken = session_.call<Disk::Buffer>(handle_);
        if (!taken) return taken.error;
        part_ = part.value.number;
        return part.value.blocks;
    }

    /// The buffer, which Read fills and from which Write takes.
    char *buffer() const { return reinterpret_cast<char *>(buffer_); }

    rpc::Result<Nothing> read(Word block, Word count, Word offset = 0)
    {
        return session_.call<Disk::Read>(part_, block, count, offset);
    }
    rpc::Result<Nothing> write(Word block, Word count, Word offset = 0)
    {
        return session_.call<Disk::Write>(part_, block, count, offset);
    }
    rpc::Result<Nothing> flush() { return session_.call<Disk::Flush>(part_); }

private:
    const char *service_;
    Session session_;
    Word handle_ = 0, buffer_ = 0, part_ = 0;
};

} // namespace cobnut
