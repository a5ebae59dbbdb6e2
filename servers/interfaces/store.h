// SPDX-License-Identifier: BSD-2-Clause
// What a file server with a writable file system has beside Stat, List and Read of interfaces/files.h, as the same
// service `files`. It has no Map: a file has no place in memory.
//
// Each operation returns when what it has changed is on the medium; if the machine stops before, all of it is there
// then, or nothing. Errors of all operations: bad_value, not_found as in files.h; failed, the disk; no_memory, the
// medium is full.
#pragma once

#include "files.h"

struct Store {
    using Word = rpc::Word;
    using Path = Files::Path;
    static constexpr size_t most_name = 64; ///< bytes, of each name in a path; longer ones: bad_value

    /// Writes at `offset`, which is not behind the end of the file, and makes the file if there is none. Its size then.
    using Write = rpc::Operation<0x110, Word(Path, Word offset, rpc::Bytes<100> data)>;

    /// A whole file from the first `bytes` of a dataspace that the caller has passed to the server, instead of what the
    /// file was, if there was one. Errors: of init::Shared and init::Attach; bad_value (the dataspace is shorter).
    using Replace = rpc::Operation<0x111, rpc::Nothing(Path, Word handle, Word bytes)>;

    /// A new folder. Errors: full (there is something of that name).
    using MakeFolder = rpc::Operation<0x112, rpc::Nothing(Path)>;

    /// A file, or a folder with nothing in it. Errors: full (a folder with something in it).
    using Remove = rpc::Operation<0x113, rpc::Nothing(Path)>;

    using Operations = rpc::List<Files::Stat, Files::List, Files::Read, Write, Replace, MakeFolder, Remove>;
};
