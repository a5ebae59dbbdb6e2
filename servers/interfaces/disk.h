// SPDX-License-Identifier: BSD-2-Clause
// A disk, as the services of its driver: one for each part of it. A client reads and writes the parts that it uses
// (`uses` of its description), and no other block.
//
// Blocks travel in a dataspace of the client's: its buffer. One that the client closes harms nobody but the client.
#pragma once

#include <rpc/rpc.h>

struct Disk {
    using Word = rpc::Word;

    static constexpr Word block_size = 512; ///< bytes
    static constexpr Word most_blocks = 128; ///< of one call

    struct Part {
        Word number; ///< by which the other calls name it
        Word blocks;
    };
    /// The part that is a service. Errors: denied, not_found (no such part, or no disk).
    using Open = rpc::Operation<0x100, Part(rpc::Name service)>;

    /// The caller's program has its blocks in this dataspace from now on, which it has passed to the driver, writable.
    /// Errors: of init::Shared and init::Attach; bad_value, too, while another call of the program's waits.
    using Buffer = rpc::Operation<0x101, rpc::Nothing(Word handle)>;

    /// Blocks of a part into the buffer and out of it, from the byte `offset` on, which is a multiple of 4. They return
    /// when the drive has done it; it may keep what is written in a cache until Flush. After `failed`, which blocks
    /// have been read or written is unknown. Errors: not_found (no such part, or not the caller's; the buffer has
    /// been closed), bad_value (outside the part or the buffer, no blocks, or more than most_blocks), failed (the
    /// drive), full.
    using Read = rpc::Operation<0x102, rpc::Nothing(Word part, Word block, Word count, Word offset)>;
    using Write = rpc::Operation<0x103, rpc::Nothing(Word part, Word block, Word count, Word offset)>;

    /// Returns when all that has been written is on the medium. Errors: not_found, failed, full.
    using Flush = rpc::Operation<0x104, rpc::Nothing(Word part)>;

    using Operations = rpc::List<Open, Buffer, Read, Write, Flush>;
};
