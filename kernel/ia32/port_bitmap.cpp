// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/port_bitmap.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/string.hpp"
#include "ia32/cpu.hpp"

namespace port_bitmap {
namespace {

const Space* owner;

void fill(const Space& space) {
    memset(io_bitmap, 0xff, sizeof io_bitmap);
    const auto& records = space.arch.ports.records;
    for (auto* r = records.front(); r; r = records.after(*r)) {
        Word first = r->first / 8, last = r->last / 8;
        Word low = 0xff << r->first % 8, high = 0xff >> (7 - r->last % 8);
        if (first == last) {
            low &= high;
        } else {
            memset(io_bitmap + first + 1, 0, last - first - 1);
            io_bitmap[last] &= ~high;
        }
        io_bitmap[first] &= ~low;
    }
    owner = &space;
}

bool allowed(ports::Range range) {
    for (Word port = range.first; port <= range.last; ++port)
        if (io_bitmap[port / 8] >> port % 8 & 1) return false;
    return true;
}

}  // namespace

bool open(Thread& t, ports::Range range) {
    check(&t == processor.current() && ports::held(*t.space, range));
    bool filled = owner == t.space && allowed(range);
    if (filled && t.fast_veto & held_ports) return false;
    if (!filled) {
        arch::preemption_point();  // the access comes again
        fill(*t.space);
    }
    processor.io_map = io_map_open;
    t.fast_veto |= held_ports;
    return true;
}

void close() { processor.io_map = io_map_none; }

}  // namespace port_bitmap

// The running thread may hold the bitmap with a bit of these ports copied.
void ports::lost(const Space& space) {
    if (port_bitmap::owner != &space) return;
    port_bitmap::owner = nullptr;
    port_bitmap::close();
}

namespace arch {

namespace {

// A walk over all records is paid for after it: this much of a budget has to be left before.
constexpr Word ports_need = mappings::between_points / 2;

}  // namespace

bool equip_server(Space& space) { return ports::give_all(space); }

mappings::Mapped transfer_ports(Space& from, Fpage send, Space& to, Fpage window, bool grant,
    mappings::Progress& progress, Word& budget) {
    if (budget < ports_need) return mappings::Mapped::part;
    ports::Range offered = ports::range_of(send), open = window.is_complete() ? ports::all : ports::range_of(window);
    if (offered.first < open.first) offered.first = open.first;
    if (offered.last > open.last) offered.last = open.last;
    Word first = offered.first;
    offered.first += progress.done;
    if (!ports::transfer(from, offered, to, grant, budget)) return mappings::Mapped::no_memory;
    progress.done = offered.first - first;
    return offered.empty() ? mappings::Mapped::all : mappings::Mapped::part;
}

bool unmap_ports(Space& space, Fpage fpage, bool flush, Word& budget) {
    return budget >= ports_need && ports::take(space, ports::range_of(fpage), flush, budget);
}

}  // namespace arch
