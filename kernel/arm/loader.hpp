// SPDX-License-Identifier: BSD-2-Clause
// What a loader that follows Linux's convention for ARM leaves in memory: a tag list, and an initial RAM disk, which
// here is an archive of the modules (cpio, format "newc"). A member's name is its module's command line.
#pragma once

#include "core/x2.hpp"

namespace loader {

struct Memory {
    PAddr first, last;
};
// Loads the initial servers and fills in the interface page; returns what is the kernel's. Refuses with one line what
// it cannot load.
Memory load(PAddr tags);

}  // namespace loader
