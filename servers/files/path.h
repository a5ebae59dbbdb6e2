// SPDX-License-Identifier: BSD-2-Clause
// Paths of files (interfaces/files.h), of archives as well as of clients.
#pragma once

#include <cobnut/options.h>

namespace files {

/// A path in its only spelling: names with one / between them.
struct Path {
    static constexpr size_t most = 128;

    size_t size = 0;
    char data[most] = {};

    /// Takes a path over, without a / before and behind it; false if it is none, or too long.
    bool read(cobnut::Text text);

    bool operator==(const Path &other) const;
    /// Of the folder that it is in.
    Path parent() const;
    /// The last name in it.
    cobnut::Text name() const;
};

} // namespace files
