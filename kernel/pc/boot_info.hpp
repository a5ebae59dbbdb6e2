// SPDX-License-Identifier: BSD-2-Clause
// Writes the generic BootInfo structure, in memory that user programs can map.
#pragma once

#include "core/kip.hpp"
#include "core/x2.hpp"
#include "pc/multiboot.hpp"

namespace boot_info {

constexpr Word bytes = 2 * page_size;

class Writer {
public:
    explicit Writer(PAddr at);
    void executable(const kip::Server& server, const char* command_line);
    void module(PAddr start, Word size, const char* command_line);
    // A copy of the multiboot information, without what was moved or is gone.
    void multiboot(const multiboot::Info& info);
    // Completes the header; false if something had no room.
    bool finish();

private:
    template <typename T>
    T* record(Word type, const char* command_line);

    PAddr base_;
    Word used_;
    Word records_ = 0;
    bool full_ = false;
};

}  // namespace boot_info
