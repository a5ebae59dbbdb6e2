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
        Word port = r->first, end = r->last + 1u;
        for (; port < end && (port % 8 || end - port < 8); ++port) io_bitmap[port / 8] &= ~(1u << port % 8);
        memset(io_bitmap + port / 8, 0, (end - port) / 8);
        for (port += (end - port) & ~7u; port < end; ++port) io_bitmap[port / 8] &= ~(1u << port % 8);
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
    if (!filled) fill(*t.space);
    processor.io_map = io_map_open;
    t.fast_veto |= held_ports;
    return true;
}

void close() { processor.io_map = io_map_none; }

}  // namespace port_bitmap

// The running thread may have it open, or a copied bit.
void ports::lost(const Space& space) {
    if (port_bitmap::owner != &space) return;
    port_bitmap::owner = nullptr;
    port_bitmap::close();
}

namespace arch {

bool equip_server(Space& space) { return ports::give_all(space); }

mappings::Mapped transfer_ports(Space& from, Fpage send, Space& to, Fpage window, bool grant,
    mappings::Progress& progress, Word& budget) {
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
    return ports::take(space, ports::range_of(fpage), flush, budget);
}

}  // namespace arch
