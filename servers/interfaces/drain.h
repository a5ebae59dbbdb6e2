// SPDX-License-Identifier: BSD-2-Clause
// The interface of the server `drain`: the far end of a pipe (libs/pipes), in a space of its own.
#pragma once

#include <rpc/rpc.h>

struct Drain {
    struct Seen {
        rpc::Word bytes, sum; ///< the sum of all bytes, each times its place, from 1
        rpc::Word status;     ///< pipes::Status of the last read
    };
    /// Reads the pipe of the thread `pipe`, `at_once` bytes at a time, until it ends.
    using Read = rpc::Operation<0x121, Seen(rpc::Word pipe, rpc::Word at_once)>;
    /// Tries to write a byte to it: a pipes::Status.
    using Write = rpc::Operation<0x122, rpc::Word(rpc::Word pipe)>;

    using Operations = rpc::List<Read, Write>;
};
