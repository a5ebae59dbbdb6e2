// SPDX-License-Identifier: BSD-2-Clause
// What workers and clerks do, over and over.
#include "fuzz.h"

namespace fuzz {
namespace {

Block &own_block()
{
    Word here;
    __asm__("mov %%esp, %0" : "=r"(here));
    return *reinterpret_cast<Block *>(here & ~(page_size - 1));
}

/// Reads or writes where a worker may have something mapped; what faults is the supervisor's to answer.
void touch(Random &random)
{
    const Word offset = 4 * random.below(1024);
    const Word page = random.one_in(8) ? beyond_small + page_size * random.below(beyond_small_pages)
                                       : free_area + page_size * random.below(256);
    auto *word = reinterpret_cast<volatile Word *>(page + offset);
    if (random.one_in(2)) *word = harmless(random.next());
    else (void)*word;
}

/// Takes back what workers have of the arena, with some rights or all.
void revoke(Random &random)
{
    const Word page = reinterpret_cast<Word>(arena) + page_size * random.below(arena_pages);
    L4_Unmap(L4_FpageLog2(page & ~0x3FFFu, 12 + random.below(3)) + random.below(8));
}

} // namespace

void worker_main()
{
    Block &block = own_block();
    Random &random = block.random;
    L4_Set_ExceptionHandler(supervisor);
    for (;;) {
        const Word kind = random.below(32);
        if (kind < 24) random_call(block);
        else if (kind < 31) touch(random);
        else random_instruction(block);
    }
}

void clerk_main()
{
    Block &block = own_block();
    L4_Set_ExceptionHandler(supervisor);
    for (;;) {
        privileged_call(block);
        if (block.random.one_in(4)) revoke(block.random);
        // Most of the time is the workers'.
        L4_Sleep(L4_TimePeriod(100 + block.random.below(1000)));
    }
}

} // namespace fuzz
