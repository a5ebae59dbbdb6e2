// SPDX-License-Identifier: BSD-2-Clause
// What the parts of pingpong share: the wish (parsed command line), the measured loops, the working sets.
#ifndef COBNUT_PINGPONG_H
#define COBNUT_PINGPONG_H
#include <l4/thread.h>
#include <stddef.h>

namespace pingpong {

enum class Work { none, nops, jumps, reads };

/// The parsed command line.
struct Wish {
    bool small_client = false, small_server = false;
    bool intra = false;            ///< both threads in one large space
    Work work = Work::none;
    unsigned first = 0, last = 0, step = 1; ///< sizes of the working set
    unsigned rounds = 100, warmup = 10;
    unsigned slot_mb = 256;
    unsigned words = 0;            ///< untyped words of each message
    bool verbose = false;
};

/// Fills `wish`; on bad input prints one line and returns false.
bool parse(const char *command_line, Wish &wish);

/// Largest size that fits the memory set aside for working sets.
unsigned largest_size(Work work);

/// The working set for a size, as the loops take it.
struct WorkingSet {
    unsigned kind; ///< 0 nothing, 1 code to call, 2 words to read
    L4_Word_t address;
    L4_Word_t reads;
};
WorkingSet make_working_set(Work work, unsigned size);

/// Layout known to loop.S.
struct Loop {
    L4_Word_t rounds, partner, tag, entry, work, reads, case_number;
};
static_assert(sizeof(Loop) == 28);

extern "C" L4_Word_t client_loop(const Loop *loop, unsigned kind, int marked);
extern "C" L4_Word_t server_loop(L4_Word_t client, L4_Word_t tag, L4_Word_t entry);
extern "C" const char chain_end[];

/// What the two threads need to know; filled before they start.
struct Setup {
    Wish wish;
    L4_ThreadId_t client, server;
};
extern Setup setup;

// Messages to the root thread: the client is finished, or one of them got an IPC error (MR1 = thread's name as
// pointer, MR2 = ErrorCode).
inline constexpr L4_Word_t done_label = 0x0D01, failed_label = 0x0D02;

[[noreturn]] void client_main();
[[noreturn]] void server_main();

} // namespace pingpong
#endif
