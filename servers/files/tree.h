// SPDX-License-Identifier: BSD-2-Clause
// The files and folders of an archive, found by their paths. Knows no kernel; compiles on the host for its tests.
#pragma once

#include "tar.h"

namespace files {

class Tree {
public:
    /// How many members an archive has, up to the one where something is wrong.
    static size_t count(const char *archive, size_t bytes);

    /// Of an archive; `members` has room for as many as count() says. What is wrong is text that ends a sentence, with
    /// where it is in `at`; nullptr: nothing.
    const char *read(const char *archive, size_t bytes, Member *members, size_t &at);

    /// nullptr: there is none. The empty path is the root folder.
    const Member *find(const Path &path) const;
    /// The first member of a folder at or behind the place `from`, which is moved to it; nullptr: no more.
    const Member *child(const Path &folder, size_t &from) const;

private:
    const char *add(const Member &member);

    Member root_ = {{}, true, nullptr, 0};
    Member *members_ = nullptr;
    size_t count_ = 0;
};

} // namespace files
