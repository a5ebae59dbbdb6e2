// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the system-call fuzzer share.
//
// Workers are threads without privileges in spaces of their own; clerks are privileged ones beside the supervisor, which
// is everybody's pager and exception handler, and replaces whatever has come to an end or to a stop. All of them live on
// one image at the same addresses, of which a worker may write its own block only.
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
inline constexpr unsigned strangers = 100; ///< numbers behind theirs under which clerks may create more
inline constexpr Word utcb_area = 0x00800000, utcb_area_log2 = 14, kip_area = 0x00C00000;
inline constexpr Word free_area = 0x00A00000, free_area_log2 = 20; ///< where workers map things
inline constexpr Word beyond_small = 0x02000000;                   ///< outside of every small space that is used here
inline constexpr Word clerk_window = 0x40000000;                   ///< where clerks receive
inline constexpr unsigned arena_pages = 64;

/// Deterministic pseudo-random numbers (xorshift).
class Random {
public:
    void seed(Word seed) { state_ = seed * 2654435761u | 1; }
    Word next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    Word below(Word n) { return next() % n; }
    bool one_in(Word n) { return below(n) == 0; }

private:
    Word state_ = 1;
};

/// The word without a byte that is the instruction iret: threads run into data now and then, and on an emulator that looks
/// at the VM flag of an iret at any privilege that leads out of all that a kernel can guard.
inline Word harmless(Word word)
{
    for (Word shift = 0; shift < 32; shift += 8)
        if ((word >> shift & 0xFF) == 0xCF) word ^= 1u << shift;
    return word;
}

/// One system call as it was made.
struct Call {
    Word field; ///< offset of its entry in the interface page
    L4_Registers_t registers;
};

/// A thread's own page: what it writes, and its stack above.
struct alignas(page_size) Block {
    Random random;
    Word calls; ///< made so far, over all threads that had this block
    Call last[8];
    unsigned char stack[page_size - 16 - 8 * sizeof(Call)];
};
static_assert(sizeof(Block) == page_size);

extern Block blocks[threads];
extern unsigned char arena[arena_pages * page_size];
extern Word base_number;            ///< thread number of the first worker
extern volatile Word ids[threads];  ///< the present ids
extern L4_ThreadId_t supervisor;

/// An argument: an interesting number, or any.
Word odd_word(Random &random);
/// A thread id: mostly of a worker, now and then of nobody.
L4_ThreadId_t odd_thread(Random &random);
/// An fpage, mostly of what workers have.
L4_Fpage_t odd_fpage(Random &random);

/// What workers and clerks do until they are deleted.
[[noreturn]] void worker_main();
[[noreturn]] void clerk_main();
/// Makes the call, noted in the block.
void make(Block &block, Word field, L4_Registers_t &registers);
/// A call that everybody may make; of IPC, only with partners that are workers.
void random_call(Block &block);

} // namespace fuzz
#endif
