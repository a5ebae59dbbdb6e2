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
    mappings::Mapped mapped = mappings::Mapped::part;
    while (mapped == mappings::Mapped::part) {
        Word budget = ~Word{0};
        mapped = mappings::transfer(from, send, to, window, base, grant, progress, budget);
    }
    return mapped == mappings::Mapped::all;
}

// An Unmap without a limit; returns the status as rights.
inline Word unmap_whole(Space& space, Fpage fpage, bool flush) {
    mappings::Sweep sweep{};
    VAddr at = fpage.base();
    Word status = 0, budget;
    while (!mappings::unmap(space, fpage, flush, at, status, sweep, budget = ~Word{0})) {}
    return mappings::as_rights(status);
}

// What MemoryControl does, in parts of that budget; returns how many parts it took.
inline Word set_attribute(Space& space, Fpage fpage, Word attribute, Word budget = ~Word{0}) {
    mappings::Sweep sweep{};
    sweep.sets_attribute = true;
    sweep.attribute = static_cast<std::uint8_t>(attribute);
    VAddr at = fpage.base();
    Word status = 0, parts = 1, left;
    while (!mappings::unmap(space, fpage.with_rights(0), false, at, status, sweep, left = budget)) ++parts;
    return parts;
}
