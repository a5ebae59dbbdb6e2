// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/port_bitmap.hpp"

#include "core/string.hpp"
#include "ia32/cpu.hpp"

namespace port_bitmap {
namespace {

const Space* owner;

void fill(const Space& space) {
    memset(io_bitmap, 0xff, sizeof io_bitmap);
    for (auto* r = ports::records().front(); r; r = ports::records().after(*r)) {
        if (r->holder != &space) continue;
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
