// SPDX-License-Identifier: BSD-2-Clause
// Archives as tar writes them (POSIX.1-1988 ustar, and what GNU tar and the Unix of 1979 make of it without
// extensions). Knows no kernel; compiles on the host for its tests.
#pragma once

#include "path.h"

namespace files {

/// What an archive has below one path.
struct Member {
    Path path;
    bool folder;
    const char *data; ///< in the archive
    size_t bytes;     ///< 0 for a folder
};

/// Reads an archive from its beginning. Whatever is in it, nothing outside of it is read.
class TarReader {
public:
    TarReader(const char *archive, size_t bytes) : archive_(archive), bytes_(bytes) {}

    /// The next file or folder; false behind the last, or if something is wrong.
    bool next(Member &member);

    /// What is wrong, as the end of a sentence, with the header at() bytes from the beginning; nullptr: nothing.
    const char *fault() const { return fault_; }
    size_t at() const { return at_; }

private:
    bool fail(const char *fault);

    const char *archive_;
    size_t bytes_, at_ = 0, next_ = 0;
    const char *fault_ = nullptr;
};

} // namespace files
