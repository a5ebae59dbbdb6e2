// SPDX-License-Identifier: BSD-2-Clause
// Virtual caches keep a copy of a frame for each address that it is accessed by, and these copies know nothing of each
// other. The kernel keeps them coherent: at any time, the processor's entries of a frame grant reading at several
// addresses, or writing, and then at one address alone. Who has to wait faults, and it is his turn. Two addresses in
// one space could be needed by one instruction, so there the frame is not cached.
#pragma once

#include "core/space.hpp"

namespace aliases {

// `page` is about to be granted, for reading or for writing: takes from all others of the frame what must not stand
// beside that. True if the page must not be cached; the others are not, then.
bool resolve(Space& space, VAddr page, bool write);
// Whether all who have been granted a frame have it uncached, so that the kernel may use it as well.
bool none_cached(PAddr frame);
// Whether `more` spaces that share a region with `space` can be granted `page` with it, and no more have the frame than
// may at a time.
bool room(Space& space, VAddr page, Word region, Word more);
// Whether `count` pages from `page` on, parts of one that somebody mapped, can be granted without that.
bool alone(Space& space, VAddr page, Word count, bool write);

}  // namespace aliases
