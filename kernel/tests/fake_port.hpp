// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "core/mapping.hpp"

namespace fake {
// How many more pages of kernel memory there are; -1: no end.
extern int pages_left;
// How many there were; only accounts ask.
extern Word pages_total;
// How often the shared code has asked for the size of a page, and for a page to become several: what splitting takes.
extern Word sizes_asked, splits;
}

// A transfer without a limit; false when kernel memory ran out.
inline bool transfer_whole(Space& from, Fpage send, Space& to, Fpage window, Word base, bool grant) {
    mappings::Progress progress{};
    Word budget = ~Word{0};
    return mappings::transfer(from, send, to, window, base, grant, progress, budget) == mappings::Mapped::all;
}
