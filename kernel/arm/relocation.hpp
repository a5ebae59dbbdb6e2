// SPDX-License-Identifier: BSD-2-Clause
// The slots of 32 MB to which the process id register relocates spaces' addresses below 32 MB, so that programs linked
// at the same address do not collide in the CPD, the TLB and the caches.
#pragma once

#include "core/space.hpp"

namespace relocation {

// The space is about to get a page in the megabyte of `page`: gives it a slot if it needs one, and another if the page
// lies in its slot. A space that finds no free slot is not relocated.
void consider(Space& space, VAddr page);
void release(Space& space);
// SpaceControl's word (docs/x2-arm.md).
Word control(Space& space, Word word);

}  // namespace relocation
