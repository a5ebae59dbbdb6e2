// SPDX-License-Identifier: BSD-2-Clause
// Pages of several sizes in the mapping database: which size a mapping can have, and when a large page has to be split.
// Not for ports with a single size.
#pragma once

#include "core/mapping_tree.hpp"

namespace mappings {

// core/large_pages.cpp is compiled for ports with several sizes only.
namespace large {
Mapped fit(Space& space, VAddr page, unsigned log2, Word& budget);
Mapped make_room(Space& from, VAddr source, unsigned& log2, Word& budget);
unsigned largest_of_sigma0(const Space& sigma0, VAddr page, VAddr last);
unsigned largest(const Space& from, VAddr source, const Space& to, VAddr target, VAddr last);
}  // namespace large

// Splits until the page at that address is no larger than asked for.
inline Mapped fit(Space& space, VAddr page, unsigned log2, Word& budget) {
    if constexpr (several_sizes) return large::fit(space, page, log2, budget);
    return Mapped::all;
}
// Called before a page of `log2` is derived from another: splits the largest page above until the mappings derived from
// it, with the new one, are within the limit. The source, and what is derived from it, may be smaller then than asked
// for.
inline Mapped make_room(Space& from, VAddr source, unsigned& log2, Word& budget) {
    if constexpr (several_sizes) return large::make_room(from, source, log2, budget);
    return Mapped::all;
}
// The largest page that sigma0 can get there.
inline unsigned largest_of_sigma0(const Space& sigma0, VAddr page, VAddr last) {
    if constexpr (several_sizes) return large::largest_of_sigma0(sigma0, page, last);
    return page_log2;
}
// The largest page that can be transferred in one piece. Smaller ones at the target stay as they are.
inline unsigned largest(const Space& from, VAddr source, const Space& to, VAddr target, VAddr last) {
    if constexpr (several_sizes) return large::largest(from, source, to, target, last);
    return page_log2;
}

}  // namespace mappings
