// SPDX-License-Identifier: BSD-2-Clause
// What workers and clerks do, over and over.
#include "fuzz.h"

// Instructions that a user may try, one after the other. Whatever they raise goes to the supervisor.
extern "C" void fuzz_odd_instruction(fuzz::Word kind);
__asm__(".text\n"
        "fuzz_odd_instruction: push %ebp; push %ebx; push %esi; push %edi\n"
        "mov 20(%esp), %ecx\n"
        "jmp *fuzz_odd_table(,%ecx,4)\n"
        "odd_0: int $0x80; jmp odd_end\n"
        "odd_1: hlt; jmp odd_end\n"
        "odd_2: in $0x60, %al; jmp odd_end\n"
        "odd_3: mov $0x3F8, %edx; in %dx, %eax; jmp odd_end\n"
        "odd_4: lock; nop; jmp odd_end\n"
        "odd_5: ud2; jmp odd_end\n"
        "odd_6: xor %eax, %eax; mov %eax, %gs; jmp odd_end\n"
        "odd_7: mov %ds, %eax; mov %eax, %gs; mov %eax, %fs; jmp odd_end\n"
        "odd_8: push %ds; push %es; xor %eax, %eax; mov %eax, %es; mov %eax, %ds; pop %es; pop %ds; jmp odd_end\n"
        "odd_9: pushf; orl $0x100, (%esp); popf; nop; nop; pushf; andl $~0x100, (%esp); popf; jmp odd_end\n"
        "odd_10: pushf; orl $0x44000, (%esp); popf; jmp odd_end\n"
        "odd_11: std; jmp odd_end\n"
        "odd_12: mov %esp, %ebp; sysenter; jmp odd_end\n"
        "odd_13: int $0x30; jmp odd_end\n"
        "odd_14: lcall $8, $0; jmp odd_end\n"
        "odd_15: int3; cmp $0x40, %al; jmp odd_end\n"
        "odd_16: mov $0x2B, %eax; mov %eax, %ds; jmp odd_end\n"
        "odd_17: fninit; jmp odd_end\n"
        "odd_18: sgdt -64(%esp); sldt %ax; str %ax; smsw %ax; jmp odd_end\n"
        "odd_19: mov %cr0, %eax; jmp odd_end\n"
        "odd_20: rdtsc; jmp odd_end\n"
        "odd_21: xor %ecx, %ecx; div %ecx; jmp odd_end\n"
        "odd_22: int $0x36; jmp odd_end\n"
        "odd_23: cli; jmp odd_end\n"
        "odd_end: pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"
        ".section .rodata\n"
        "fuzz_odd_table: .long odd_0, odd_1, odd_2, odd_3, odd_4, odd_5, odd_6, odd_7, odd_8, odd_9, odd_10, odd_11\n"
        ".long odd_12, odd_13, odd_14, odd_15, odd_16, odd_17, odd_18, odd_19, odd_20, odd_21, odd_22, odd_23\n"
        ".text\n");

namespace fuzz {
namespace {

constexpr Word odd_instructions = 24;

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
    const Word page = random.one_in(8) ? beyond_small + page_size * random.below(64) : free_area + page_size * random.below(256);
    auto *word = reinterpret_cast<volatile Word *>(page + offset);
    if (random.one_in(2))
        *word = harmless(random.next());
    else
        (void)*word;
}

Word odd_control(Random &random)
{
    constexpr Word sizes[] = {4, 8, 16, 32, 64};
    const Word size = sizes[random.below(5)];
    if (random.one_in(4)) return odd_word(random);
    return L4_SmallSpaceChange | (random.one_in(4) ? 0 : L4_SmallSpace(size * random.below(512 / size), size));
}

/// ThreadControl and its like on workers, and on numbers that nobody has: never on what the supervisor stands on.
void privileged_call(Block &block)
{
    Random &random = block.random;
    const Word number = base_number + (random.one_in(8) ? threads + random.below(strangers) : random.below(workers));
    const L4_ThreadId_t present = {.raw = ids[random.below(workers)]};
    const L4_ThreadId_t dest = random.one_in(2) ? present : L4_GlobalId(number, 1 + random.below(0x3FFF));
    const L4_ThreadId_t space = random.one_in(4) ? dest : random.one_in(8) ? L4_nilthread : odd_thread(random);
    const Word utcb = random.one_in(2) ? ~0u : utcb_area + 512 * random.below(40);
    L4_Registers_t r = {};
    switch (random.below(6)) {
    case 0:
        // An interrupt: attached to a worker, or detached.
        r = {random.below(20) << 14 | 1, present.raw, 0, 0, ~0u, 0, 0};
        r.esi = r.eax;
        if (random.one_in(2)) r.ecx = r.eax;
        return make(block, L4_KIP_THREAD_CONTROL, r);
    case 1: case 2:
        r = {dest.raw, random.one_in(2) ? 0 : supervisor.raw, random.one_in(2) ? 0 : supervisor.raw, space.raw, utcb, 0, 0};
        return make(block, L4_KIP_THREAD_CONTROL, r);
    case 3: case 4:
        r = {dest.raw, odd_control(random),
             random.one_in(4) ? odd_fpage(random).raw : 0, random.one_in(4) ? odd_fpage(random).raw : 0,
             random.one_in(4) ? odd_thread(random).raw : ~0u, 0, 0};
        return make(block, L4_KIP_SPACE_CONTROL, r);
    default:
        r = {dest.raw, random.one_in(2) ? ~0u : random.below(210),
             random.one_in(2) ? ~0u : odd_word(random), random.one_in(2) ? ~0u : odd_word(random),
             random.one_in(2) ? ~0u : odd_word(random), 0, 0};
        return make(block, L4_KIP_SCHEDULE, r);
    }
}

/// Takes back what workers have of the arena, with some rights or all.
void revoke(Random &random)
{
    const Word page = reinterpret_cast<Word>(arena) + page_size * random.below(arena_pages);
    L4_Unmap(L4_FpageLog2(page & ~0x3FFFu, 12 + random.below(3)) + random.below(8));
}

} // namespace

void make(Block &block, Word field, L4_Registers_t &r)
{
    block.last[block.calls % 8] = {field, r};
    block.calls++;
    __L4_Call_Stub(field, &r);
}

void worker_main()
{
    Block &block = own_block();
    Random &random = block.random;
    L4_Set_ExceptionHandler(supervisor);
    for (;;) {
        const Word kind = random.below(32);
        if (kind < 24)
            random_call(block);
        else if (kind < 31)
            touch(random);
        else
            fuzz_odd_instruction(random.below(odd_instructions));
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
