// SPDX-License-Identifier: BSD-2-Clause
// I/O ports (manual A.4): which space holds which, and which space it got them from. No hardware: also compiled on the
// host.
//
// A port is mapped at its own number, completely or not at all. So one record says that a space holds a range of
// ports, and which record of another space, which includes the range, it was derived from. Mapping ports that a space
// holds already changes nothing. A space has at most Held::most records: a mapping that needs more fails as without
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

// Gives an initial server all ports. False when kernel memory is exhausted.
bool give_all(Space& server);
// Transfers what `from` holds of the range and `to` does not, as far as the budget goes (core/mapping.hpp): the rest
// of the range is for another call. False when kernel memory is exhausted.
bool transfer(Space& from, Range& range, Space& to, bool grant, Word& budget);
// Takes the range from all spaces that have it from `space`, and with `flush` from the space itself, as far as the
// budget goes. True when none is left. Without kernel memory to cut a record, all that is derived from it is taken, or
// with `flush` the whole record.
bool take(Space& space, Range range, bool flush, Word& budget);
bool held(const Space& space, Range range);

// Called when a space has lost ports; defined where copies are kept (ia32/port_bitmap.cpp).
void lost(const Space& space);

}  // namespace ports
