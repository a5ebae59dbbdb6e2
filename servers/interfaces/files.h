// SPDX-License-Identifier: BSD-2-Clause
// Files by their paths, as the service `files` of a file server. No operation leaves anything behind in the server, so
// a server that has been started again goes on where the last one was.
//
// A path is names with / between them; a / before or behind it means nothing, and the empty path is the root folder.
// Errors of all operations: bad_value, a path that is none (an empty name between two /, `.`, `..`, a byte 0), or one
// of a folder where a file is asked for, or the other way round; not_found, no such path.
#pragma once

#include <rpc/rpc.h>

struct Files {
    static constexpr size_t most_path = 128; ///< bytes

    using Path = rpc::Bytes<most_path>;
    using Piece = rpc::Bytes<240>;
    enum class Kind : rpc::Word { file, folder };

    struct Info {
        Kind kind;
        rpc::Word bytes; ///< 0 for a folder
    };
    using Stat = rpc::Operation<0x100, Info(Path)>;

    struct Entry {
        rpc::Word next; ///< where the next call goes on
        Info info;
        Path name; ///< without the folder
    };
    /// What is in a folder, one by one: the first at or behind the place `from`, which begins with 0. Errors: not_found
    /// behind the last one, too.
    using List = rpc::Operation<0x101, Entry(Path folder, rpc::Word from)>;

    /// What is in a file from `offset` on, at most as much as a message takes; nothing from its end on.
    using Read = rpc::Operation<0x102, Piece(Path, rpc::Word offset)>;

    struct Mapping {
        rpc::Word handle, offset, bytes; ///< the file lies in the dataspace from `offset` on
    };
    /// A file as memory: makes the client a holder of a dataspace to be read, which it attaches (init::Attach). Further
    /// files may lie in the same one; a client names what it holds already (`held`, 0: nothing), which spares init a
    /// call. This is the way to read much: nothing is copied, and no call is made.
    using Map = rpc::Operation<0x103, Mapping(Path, rpc::Word held)>;

    using Operations = rpc::List<Stat, List, Read, Map>;
};
