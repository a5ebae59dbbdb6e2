// SPDX-License-Identifier: BSD-2-Clause
// What relocation.cpp needs of residents.cpp.
#pragma once

#include "core/space.hpp"

namespace host {

// The space's addresses are about to be moved: nothing of it stands in the CPD, the TLB or the caches.
void leave_sections(Space& space);

}  // namespace host
