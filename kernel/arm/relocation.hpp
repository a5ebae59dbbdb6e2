// SPDX-License-Identifier: BSD-2-Clause
// Which spaces' addresses below 32 MB the process id register moves where: to a slot of 32 MB of each space's own, so
// that programs linked at the same address do not meet in the CPD, the TLB and the caches.
#pragma once

#include "core/space.hpp"

namespace relocation {

// The space is about to have something in the megabyte of `page`: it gets a slot if it needs one, and leaves the one
// that it has if the page lies there. A space that finds no free one is not relocated.
void consider(Space& space, VAddr page);
void release(Space& space);
// SpaceControl's word (docs/x2-arm.md).
Word control(Space& space, Word word);

}  // namespace relocation
