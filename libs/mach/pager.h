// SPDX-License-Identifier: BSD-2-Clause
// External pagers that are programs of the system: what their data is comes from their own sessions, with a file server
// or the network, and they speak Mach's messages with the server `mach`, which they join (interfaces/mach.h).
#pragma once

#include <interfaces/mach.h>

namespace mach {

/// Where a pager has its data. What it has opened it knows by a number below `most`.
class Backing {
public:
    static constexpr Word most = 8;
    using Path = rpc::Bytes<sizeof Message::words>;

    /// How many bytes there are by that path. Its number is `number` from now on, and that is nothing else's any more.
    virtual rpc::Result<Word> open(Word number, const Path &path) = 0;
    /// Reads `bytes` bytes, at most a page, from `offset` on; all of them are below the length.
    virtual bool read(Word number, Word offset, char *to, Word bytes) = 0;
    /// Likewise, a modified page.
    virtual bool write(Word number, Word offset, const char *from, Word bytes) = 0;
};

/// Serves tasks that ask for memory objects by the name `service` (map_object in mach.h). One object for each path, so
/// that all who map it see the same. Returns if the server `mach` has ended, or after a line if it cannot join: 1.
int serve_objects(const char *service, Backing &backing);

} // namespace mach
