// SPDX-License-Identifier: BSD-2-Clause
// Virtual caches keep a copy of a frame for each address by which it is accessed, and do not keep these coherent. The
// kernel does: at any time the processor's entries for a frame grant reading at several addresses, or writing at a
// single one. Any other access faults, and is granted in exchange. Two addresses in one space could be needed by one
// instruction, so in that case the frame is not cached.
#pragma once

#include "core/space.hpp"

namespace aliases {

// `page` is about to be granted for reading or writing: revokes conflicting grants of the frame's other pages. True if
// the page must not be cached, nor the others then.
bool resolve(Space& space, VAddr page, bool write);
// Whether all grants of a frame are uncached, so that the kernel may use it as well.
bool none_cached(PAddr frame);
// Whether `page` can also be granted to `more` spaces that share a region with `space`, within the limit to a frame's
// grants.
bool room(Space& space, VAddr page, Word region, Word more);
// Whether `count` pages from `page` on, parts of one mapping, can be granted without revoking others.
bool alone(Space& space, VAddr page, Word count, bool write);

}  // namespace aliases
