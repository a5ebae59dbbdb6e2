// SPDX-License-Identifier: BSD-2-Clause
// A drive at the first ATA channel of a PC: commands with programmed I/O (ATA/ATAPI-6, 9.5 to 9.8), of which one at a
// time is on its way. The drive interrupts when it is ready for a block, and when it has finished.
#pragma once

#include <stddef.h>

namespace ide {

enum class Command : unsigned char { read = 0x20, write = 0x30, flush = 0xE7 };
enum class Progress { goes_on, done, failed };

class Drive {
public:
    static constexpr unsigned line = 14;
    static constexpr size_t block_size = 512;

    /// Resets the channel and asks for drive 0 or 1. False if there is none that is a disk.
    bool begin(unsigned number);
    unsigned blocks() const { return blocks_; }

    /// Begins a command for up to 255 blocks at `block`, with `memory` for their contents. False: the drive is not
    /// ready for one.
    bool start(Command command, unsigned block, unsigned count, char *memory);
    /// Goes on after an interrupt.
    Progress interrupted();
    /// After a command that has not come to its end.
    bool reset();

private:
    unsigned char by_number(unsigned block) const;
    bool identify();
    void next_block(bool write);

    unsigned number_ = 0, blocks_ = 0;
    Command command_ = Command::flush;
    unsigned left_ = 0; ///< blocks
    char *memory_ = nullptr;
};

} // namespace ide
