// SPDX-License-Identifier: BSD-2-Clause
// I/O ports (manual A.4): which space holds which, and from whom it has them. No hardware: also compiled on the host.
//
// A port is mapped at its own number, and wholly or not at all. So one record says that a space holds a range of ports,
// and from which other space; the records derived from it are those that name this space as their source, each inside
// one record of its source. Ports that a space holds already stay as they are when another mapper offers them again.
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

struct Record {
    Link<Record> link;
    Space* holder;
    Space* source;                  // nullptr: has them from the beginning
    std::uint16_t first, last;
};
using Records = List<Record, &Record::link>;
const Records& records();

// An initial server's: all ports. False when kernel memory is exhausted.
bool give_all(Space& server);
// What `from` holds of the range, as far as `to` holds it not. False when kernel memory is exhausted. It is done for the first
// ports of the range only, as many as can be at a time: what is left of it is for another call.
bool transfer(Space& from, Range& range, Space& to, bool grant);
// Takes the range from all that have it from `space`, and with `flush` from the space itself: of one of them at a time. True
// when none is left. Without kernel memory to cut a record, all of it goes.
bool take(Space& space, Range range, bool flush);
bool held(const Space& space, Range range);

// Called when a space has lost some: by whoever keeps a copy (ia32/port_bitmap.cpp).
void lost(const Space& space);

}  // namespace ports
