// SPDX-License-Identifier: BSD-2-Clause
// What the parts of pingpong share: the wish (parsed command line), the measured loops, the working sets.
#ifndef COBNUT_PINGPONG_H
#define COBNUT_PINGPONG_H
#include <l4/thread.h>
#include <stddef.h>

namespace pingpong {

enum class Work { none, nops, jumps, reads, walks, turns };

/// The parsed command line.
struct Wish {
    bool small_client = false, small_server = false;
    bool intra = false;            ///< both threads in one large space
    Work work = Work::none;
    unsigned first = 0, last = 0, step = 1; ///< sizes of the working set
    unsigned also = 0;             ///< one more size, between them; 0: none
    unsigned rounds = 100, warmup = 10;
    unsigned slot_mb = 256;
    unsigned words = 0;            ///< untyped words of each message
    unsigned calls = 1;            ///< 0: the client only touches its working set
    unsigned servers = 1;          ///< 2: called in turn, in spaces of their own
    unsigned halves = 0;           ///< 1: the way there and the way back are iterations of their own
    unsigned distance = 4160;      ///< bytes between two reads
    unsigned reads = 0;            ///< reads that follow nops or jumps
    unsigned served = 0;           ///< reads of a server in each call
    bool verbose = false;
};

/// Fills `wish`; on bad input prints one line and returns false.
bool parse(const char *command_line, Wish &wish);

/// Largest size of the working set that fits the memory set aside for it.
unsigned largest_size(const Wish &wish);
/// The same for the reads that come on top and for those of a server.
unsigned largest_reads(const Wish &wish);
unsigned largest_served(const Wish &wish);

/// What a loop does besides calling. The order is that of loop_table in loop.S.
enum class Kind : unsigned { none, code, data, both, walk, count, turn };

/// The working set for a size, as the loops take it.
struct WorkingSet {
    Kind kind = Kind::none;
    L4_Word_t code = 0, data = 0, reads = 0, distance = 0, sweep = 0;
};
WorkingSet make_working_set(const Wish &wish, unsigned size);
WorkingSet make_server_working_set(const Wish &wish);

/// Where the client's stack pointer starts: on a page that TLBs put before the page of the loops.
unsigned char *client_stack_top();

/// Layout known to loop.S.
struct Loop {
    L4_Word_t rounds, partner, tag, entry, other, code, data, reads, distance, sweep, case_number;
};
static_assert(sizeof(Loop) == 44);

/// Index of a loop: what the client calls (0 its server, 1 two servers in turn, 2 none) and what it does then. One that
/// turns a segment calls its server.
constexpr unsigned loop_kind(unsigned calls, Kind kind)
{
    if (kind == Kind::turn) return 3 * static_cast<unsigned>(Kind::count);
    return calls * static_cast<unsigned>(Kind::count) + static_cast<unsigned>(kind);
}

extern "C" L4_Word_t client_loop(const Loop *loop, unsigned kind, int marked);
extern "C" L4_Word_t server_loop(const Loop *loop, unsigned kind, int marked);
extern "C" const char chain_end[];

/// What the threads need to know; filled before they start.
struct Setup {
    Wish wish;
    L4_ThreadId_t client, server, other_server;
};
extern Setup setup;

// Messages to the root thread: the client is finished, or one of them got an IPC error (MR1 = thread's name as
// pointer, MR2 = ErrorCode).
inline constexpr L4_Word_t done_label = 0x0D01, failed_label = 0x0D02;

[[noreturn]] void client_main();
[[noreturn]] void server_main();

} // namespace pingpong
#endif
