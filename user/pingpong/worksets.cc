// SPDX-License-Identifier: BSD-2-Clause
// The working sets of U02 figure 4: what the client touches between two calls.
//   nops   N one-byte nops, then a return: N bytes of trace cache and code lines
//   jumps  N jumps of 4155 bytes, each on a page of its own: N entries of the instruction TLB
//   reads  N four-byte reads, 4160 bytes apart: N entries of the data TLB
// The distance of 4160 bytes (a jump is 5 bytes long) moves one cache line on with each page, so that the caches'
// sets are used evenly and the TLB is what fills up first.
#include "pingpong.h"

extern "C" void *memset(void *, int, size_t);

namespace pingpong {
namespace {

constexpr size_t area_size = 2u << 20;
constexpr size_t distance = 4160;
constexpr size_t jump_size = 5;

alignas(4096) constinit unsigned char area[area_size] = {};

/// jmp rel32 at `from`.
void put_jump(unsigned char *from, const void *to)
{
    const auto relative = reinterpret_cast<L4_Word_t>(to) - reinterpret_cast<L4_Word_t>(from + jump_size);
    from[0] = 0xE9;
    for (unsigned i = 0; i < 4; i++) from[1 + i] = static_cast<unsigned char>(relative >> (8 * i));
}

void fill_nops(unsigned size)
{
    memset(area, 0x90, size);
    area[size] = 0xC3; // ret
}

/// The last jump goes to a return on the loop's own page: N jumps touch exactly N pages of the area.
void fill_jumps(unsigned size)
{
    if (size == 0) area[0] = 0xC3;
    for (unsigned i = 0; i < size; i++) {
        unsigned char *here = area + i * distance;
        put_jump(here, i + 1 < size ? here + distance : reinterpret_cast<const unsigned char *>(chain_end));
    }
}

} // namespace

unsigned largest_size(Work work)
{
    switch (work) {
    case Work::none: return 0;
    case Work::nops: return area_size - 1;
    case Work::jumps:
    case Work::reads: return (area_size - jump_size) / distance;
    }
    return 0;
}

WorkingSet make_working_set(Work work, unsigned size)
{
    const auto address = reinterpret_cast<L4_Word_t>(area);
    switch (work) {
    case Work::none: break;
    case Work::nops: fill_nops(size); return {1, address, 0};
    case Work::jumps: fill_jumps(size); return {1, address, 0};
    case Work::reads: return {2, address, size};
    }
    return {0, 0, 0};
}

} // namespace pingpong
