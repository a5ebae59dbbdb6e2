// SPDX-License-Identifier: BSD-2-Clause
// I/O ports (manual A.4): which space holds which, and from whom it has them. No hardware: also compiled on the host.
//
// A port is mapped at its own number, and wholly or not at all. So one record says that a space holds a range of ports,
// and from which record of another space: inside that one. Ports that a space holds already stay as they are when
// another mapper offers them again. A space has no more than Held::most records: what would take more is as without
// kernel memory.
#pragma once

#include "core/space.hpp"

namespace ports {

constexpr Word count = 1u << 16;

struct Range {
    Word first, last;
    bool empty() const { return first > last; }
};
// The ports that an I/O fpage names.
Range range_of(Fpage fpage);
constexpr Range all{0, count - 1};

// An initial server's: all ports. False when kernel memory is exhausted.
bool give_all(Space& server);
// What `from` holds of the range, as far as `to` holds it not, and as the budget goes (core/mapping.hpp): what is left
// of the range is for another call. False when kernel memory is exhausted.
bool transfer(Space& from, Range& range, Space& to, bool grant, Word& budget);
// Takes the range from all that have it from `space`, and with `flush` from the space itself, as far as the budget
// goes. True when none is left. Without kernel memory to cut a record, all that is derived from it goes, or with
// `flush` all of it.
bool take(Space& space, Range range, bool flush, Word& budget);
bool held(const Space& space, Range range);

// Called when a space has lost some: by whoever keeps a copy (ia32/port_bitmap.cpp).
void lost(const Space& space);

}  // namespace ports
