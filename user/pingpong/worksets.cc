// SPDX-License-Identifier: BSD-2-Clause
// The working sets of U02 figure 4: what the client touches between two calls, and some of L95.
//   nops   N one-byte nops, then a return: N bytes of trace cache and code lines
//   jumps  N jumps of 4155 bytes, each on a page of its own: N entries of the instruction TLB
//   reads  N four-byte reads, 4160 bytes apart: N entries of the data TLB
//   walks  N four-byte reads after a sweep over 16 KB, which takes page-table entries out of the first-level cache
//   turns  N reads before and behind the start of the client's own segment (docs/x2-ia32.md, 14.1), in turn: each
//          faults, and the kernel turns the segment
// Reads may also follow nops and jumps. The distance of 4160 bytes (a jump is 5 bytes long) moves one cache line on
// with each page, so that the caches' sets are used evenly and the TLB is what fills up first.
//
// Where TLBs are set-associative, the place of a page matters: pages whose numbers differ by a multiple of the number
// of sets compete. So code follows on the page of the loops, which itself follows on the page of the stack, and data
// follows on the page of the stack, too, each modulo `sets` pages: pages in a row use every set alike.
#include "pingpong.h"

extern "C" void *memset(void *, int, size_t);

namespace pingpong {
namespace {

constexpr size_t page_size = 4096;
constexpr size_t sets = 64; // a multiple of the number of sets of every TLB with up to 64 of them
constexpr size_t spare = sets * page_size;
constexpr size_t code_size = 1u << 20, data_size = 1u << 20, served_size = 256u << 10, sweep_size = 16u << 10;
constexpr size_t code_distance = 4160;
constexpr size_t jump_size = 5;
constexpr unsigned most_turns = 1000;

alignas(page_size) constinit unsigned char code_area[code_size + spare] = {};
alignas(page_size) constinit unsigned char data_area[data_size + spare] = {};
alignas(page_size) constinit unsigned char stack_area[2 * page_size + spare] = {};
alignas(page_size) constinit unsigned char sweep_area[sweep_size + spare] = {};
alignas(page_size) constinit unsigned char served_area[served_size] = {};

/// The first page in `area`, which has `spare` bytes to spare, that lies `pages` pages after `page` in every TLB.
unsigned char *after(const void *page, size_t pages, unsigned char *area)
{
    const auto number = [](const void *p) { return reinterpret_cast<L4_Word_t>(p) / page_size; };
    return area + (number(page) + pages - number(area)) % sets * page_size;
}

unsigned char *code() { return after(chain_end, 1, code_area); }
unsigned char *stack_page() { return after(chain_end, sets - 1, stack_area + page_size); } // and one page below it
unsigned char *data() { return after(stack_page(), 1, data_area); }
unsigned char *sweep() { return after(stack_page(), 2, sweep_area); }

/// jmp rel32 at `from`.
void put_jump(unsigned char *from, const void *to)
{
    const auto relative = reinterpret_cast<L4_Word_t>(to) - reinterpret_cast<L4_Word_t>(from + jump_size);
    from[0] = 0xE9;
    for (unsigned i = 0; i < 4; i++) from[1 + i] = static_cast<unsigned char>(relative >> (8 * i));
}

void fill_nops(unsigned size)
{
    memset(code(), 0x90, size);
    code()[size] = 0xC3; // ret
}

/// The last jump goes to a return on the loop's own page: N jumps touch exactly N pages of the area.
void fill_jumps(unsigned size)
{
    if (size == 0) code()[0] = 0xC3;
    for (unsigned i = 0; i < size; i++) {
        unsigned char *here = code() + i * code_distance;
        put_jump(here, i + 1 < size ? here + code_distance : reinterpret_cast<const unsigned char *>(chain_end));
    }
}

L4_Word_t address(const unsigned char *p) { return reinterpret_cast<L4_Word_t>(p); }

} // namespace

unsigned largest_reads(const Wish &wish) { return data_size / wish.distance; }
unsigned largest_served(const Wish &wish) { return served_size / wish.distance; }

unsigned largest_size(const Wish &wish)
{
    switch (wish.work) {
    case Work::none: return 0;
    case Work::nops: return code_size - 1;
    case Work::jumps: return (code_size - jump_size) / code_distance;
    case Work::reads:
    case Work::walks: return largest_reads(wish);
    case Work::turns: return most_turns;
    }
    return 0;
}

WorkingSet make_working_set(const Wish &wish, unsigned size)
{
    const bool reading = wish.work == Work::reads || wish.work == Work::walks;
    const L4_Word_t reads = reading || wish.work == Work::turns ? size : wish.reads;
    WorkingSet set{Kind::none, address(code()), address(data()), reads, wish.distance, address(sweep())};
    if (wish.work == Work::nops) fill_nops(size);
    if (wish.work == Work::jumps) fill_jumps(size);
    if (wish.work == Work::walks) {
        set.kind = Kind::walk;
        set.data += page_size / 2; // away from the cache sets of the first entries of a page directory
    } else if (wish.work == Work::turns) set.kind = Kind::turn;
    else if (wish.work == Work::reads) set.kind = Kind::data;
    else if (wish.work != Work::none) set.kind = reads ? Kind::both : Kind::code;
    return set;
}

WorkingSet make_server_working_set(const Wish &wish)
{
    WorkingSet set{.data = address(served_area), .reads = wish.served, .distance = wish.distance};
    if (wish.served) set.kind = Kind::data;
    return set;
}

unsigned char *client_stack_top() { return stack_page() + page_size - 16; }

} // namespace pingpong
