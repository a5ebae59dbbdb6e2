// SPDX-License-Identifier: BSD-2-Clause
// Writes the generic BootInfo structure, in memory that user programs can map.
#pragma once

#include "core/kip.hpp"
#include "core/x2.hpp"

namespace boot_info {

constexpr Word bytes = 2 * page_size;

class Writer {
public:
    explicit Writer(PAddr at);
    void executable(const kip::Server& server, const char* command_line);
    void module(PAddr start, Word size, const char* command_line);
    // Adds a record of the boot loader's own; the first word is the address of `size` bytes behind it.
    void loaders_own(Word type, const void* data, Word size);
    // Completes the header; false if something had no room.
    bool finish();

private:
    template <typename T>
    T* record(Word type, const void* behind, Word bytes_behind);

    PAddr base_;
    Word used_;
    Word records_ = 0;
    bool full_ = false;
};

}  // namespace boot_info
