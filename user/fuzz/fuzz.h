// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the system-call fuzzer share.
//
// Workers are threads without privileges in spaces of their own; clerks are privileged ones beside the supervisor,
// which is the pager and exception handler of all, and replaces whatever has come to an end or to a stop. All of them
// live on one image at the same addresses, of which a worker may write its own block only.
#ifndef COBNUT_FUZZ_H
#define COBNUT_FUZZ_H
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/schedule.h>
#include <l4/space.h>

namespace fuzz {

using Word = L4_Word_t;

inline constexpr Word page_size = 4096;
inline constexpr unsigned workers = 20, clerks = 2, threads = workers + clerks;
inline constexpr unsigned strangers = 200; ///< numbers behind theirs under which clerks may create more
inline constexpr Word utcb_area = 0x00800000, utcb_area_log2 = 14, kip_area = 0x00C00000;
inline constexpr Word free_area = 0x00A00000, free_area_log2 = 20; ///< where workers map things
inline constexpr Word beyond_small = 0x02000000;                   ///< outside of every small space that is used here
inline constexpr Word beyond_small_pages = 64;
/// bits of what is mapped further up: no address that a number made up for something else is
inline constexpr Word far = 0x15000000;
inline constexpr Word clerk_window = 0x40000000;                   ///< where clerks receive
inline constexpr unsigned arena_pages = 64;

/// Deterministic pseudo-random numbers (xorshift). Whatever is written over the state, it goes on.
class Random {
public:
    void seed(Word seed) { state_ = seed * 2654435761u | 1; }
    Word next()
    {
        if (!state_) state_ = 2463534242u;
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    /// From 0 to n - 1. By the product's upper half: emulators divide slowly.
    Word below(Word n) { return static_cast<Word>(static_cast<unsigned long long>(next()) * n >> 32); }
    bool one_in(Word n) { return below(n) == 0; }

private:
    Word state_ = 1;
};

/// The word without a byte that begins one of two instructions: threads run into data now and then, and QEMU executes
/// what no processor does. It looks at the VM flag of an iret at any privilege, and moves a null selector into CS; both
/// lead out of all that a kernel can guard.
inline Word harmless(Word word)
{
    constexpr Word iret = 0xCF, move_to_segment = 0x8E;
    for (Word shift = 0; shift < 32; shift += 8)
        if (const Word byte = word >> shift & 0xFF; byte == iret || byte == move_to_segment) word ^= 1u << shift;
    return word;
}

/// The system calls, and `raw`: an entry past the stubs, with anything in the registers.
enum Kind : Word {
    ipc,
    lipc,
    unmap,
    exchange_registers,
    thread_switch,
    schedule,
    thread_control,
    space_control,
    processor_control,
    memory_control,
    tls_control,
    system_clock,
    raw,
    kinds,
};

/// One system call as it was made.
struct Call {
    Kind kind;
    L4_Registers_t registers;
};

/// What calls came to, by kind: index 0 counts those that succeeded, the others are error codes. IPC's are phase and
/// code as they stand in ErrorCode, without the count of bytes.
inline constexpr unsigned outcomes = 16;
struct Tally {
    Word count[kinds * outcomes];
    Word &of(Word kind, Word outcome) { return count[kind * outcomes + outcome]; }
};

/// A thread's own page: what it writes, and its stack above. Its address stands on the stack, so threads that lose
/// their way come to it: it begins with instructions hlt.
struct alignas(page_size) Block {
    unsigned char stop[16];
    Random random;
    Word calls; ///< made so far, over all threads that had this block
    Call last[4];
    Tally tally;
    unsigned char stack[page_size - 16 - 2 * sizeof(Word) - 4 * sizeof(Call) - sizeof(Tally)];
};
static_assert(sizeof(Block) == page_size);

extern Block blocks[threads];
extern unsigned char arena[arena_pages * page_size];
extern Word base_number;            ///< thread number of the first worker
extern volatile Word ids[threads];  ///< the present ids
extern L4_ThreadId_t supervisor;

/// An argument: an interesting number, or any.
Word odd_word(Random &random);
/// Where a thread may be sent: where no writable page is, as far as that can be known. QEMU comes to a standstill over
/// code that writes over itself if its clock counts instructions.
Word odd_ip(Random &random);
/// Where a worker's UTCB may be: most share a page.
Word odd_utcb(Random &random);
/// A thread id: mostly of a worker, now and then of no thread.
L4_ThreadId_t odd_thread(Random &random);
/// An fpage, mostly of what workers have.
L4_Fpage_t odd_fpage(Random &random);
/// I/O ports behind which nothing is, mostly.
L4_Fpage_t odd_ports(Random &random);
inline constexpr Word first_port = 0x280, ports_log2 = 4; ///< those that workers can have

/// What workers and clerks do until they are deleted.
[[noreturn]] void worker_main();
[[noreturn]] void clerk_main();
/// Makes the call; the block notes it and what it came to.
void make(Block &block, Kind kind, L4_Registers_t &registers);
/// A call that all may make; of IPC, only with partners that are workers.
void random_call(Block &block);
/// One of the instructions that a user may try.
void random_instruction(Block &block);
/// A call of those that are for privileged threads.
void privileged_call(Block &block);

/// Adds to the total what the thread of block `i` has done since it was last asked; returns how many calls that are.
Word collect(unsigned i);
/// A line `fuzz: outcome CALL CODE COUNT` for each outcome that there was.
void print_total();

} // namespace fuzz
#endif
