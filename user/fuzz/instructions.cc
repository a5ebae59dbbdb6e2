// SPDX-License-Identifier: BSD-2-Clause
// Instructions that a user may try, and entries to the kernel past the stubs. Whatever they raise goes to the
// supervisor.
#include "fuzz.h"

extern "C" void fuzz_odd_instruction(fuzz::Word kind);
/// Through the gate with this index, with all of *registers in the registers.
extern "C" void fuzz_raw_entry(const L4_Registers_t *registers, fuzz::Word gate);
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
        // Only for a moment: an emulator lets the library read through it.
        "odd_6: mov %gs, %ecx; xor %eax, %eax; mov %eax, %gs; mov %ecx, %gs; jmp odd_end\n"
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
        "odd_24: pushf; orl $0x100, (%esp); popf; mov %esp, %ebp; sysenter; jmp odd_end\n"
        "odd_25: pushf; orl $0x100, (%esp); popf; int $0x30; jmp odd_end\n"
        "odd_26: mov $0x285, %edx; in %dx, %al; out %al, %dx; jmp odd_end\n"
        "odd_27: mov $0x280, %edx; in %dx, %eax; out %eax, %dx; jmp odd_end\n"
        "odd_28: int3; cmp $8, %al; jmp odd_end\n"
        "odd_29: mov $0xC0001234, %ebp; sysenter; jmp odd_end\n"
        "odd_30: xor %esp, %esp; int $0x31; jmp odd_end\n"
        "odd_31: mov $0x3B, %eax; mov %eax, %fs; mov %fs:0, %eax; jmp odd_end\n"
        "odd_32: mov $0xFFFFFFF0, %eax; int3; cmp $1, %al; jmp odd_end\n"
        "odd_33: xor %eax, %eax; mov %eax, %ss; jmp odd_end\n"
        // Calls of another system's by sysenter in a controlled space, and an IPC in others.
        "odd_34: mov $0x78, %eax; mov %esp, %ebp; sysenter; jmp odd_end\n"
        "odd_35: pushf; orl $0x44500, (%esp); mov $0x3FFF, %eax; mov %esp, %ebp; popf; sysenter; jmp odd_end\n"
        "odd_36: mov $1, %eax; mov $0xC0001234, %ebp; sysenter; jmp odd_end\n"
        "odd_end: pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"

        "fuzz_raw_entry: pusha\n" // arguments now at 36(%esp)
        "mov 36(%esp), %ebp\n"
        "mov 40(%esp), %eax\n"
        "push fuzz_gate_table(,%eax,4)\n"
        "mov 0(%ebp), %eax; mov 4(%ebp), %ecx; mov 8(%ebp), %edx; mov 12(%ebp), %esi; mov 16(%ebp), %edi\n"
        "mov 20(%ebp), %ebx; mov 24(%ebp), %ebp\n"
        "ret\n"
        ".irp n, 0x00, 0x02, 0x03, 0x04, 0x0E, 0x20, 0x2F, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, "
        "0x3A, 0xFF\n"
        "gate_\\n: int $\\n; jmp gate_end\n"
        ".endr\n"
        "gate_end: cld; popa; ret\n"

        ".section .rodata\n"
        "fuzz_odd_table: .long odd_0, odd_1, odd_2, odd_3, odd_4, odd_5, odd_6, odd_7, odd_8, odd_9, odd_10, odd_11\n"
        ".long odd_12, odd_13, odd_14, odd_15, odd_16, odd_17, odd_18, odd_19, odd_20, odd_21, odd_22, odd_23\n"
        ".long odd_24, odd_25, odd_26, odd_27, odd_28, odd_29, odd_30, odd_31, odd_32, odd_33, odd_34, odd_35\n"
        ".long odd_36\n"
        "fuzz_gate_table:\n"
        ".irp n, 0x00, 0x02, 0x03, 0x04, 0x0E, 0x20, 0x2F, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, "
        "0x3A, 0xFF\n"
        ".long gate_\\n\n"
        ".endr\n"
        ".text\n");

namespace fuzz {
namespace {

constexpr Word odd_instructions = 37, gates = 19;

} // namespace

void random_instruction(Block &block)
{
    Random &random = block.random;
    if (!random.one_in(3)) return fuzz_odd_instruction(random.below(odd_instructions));
    const L4_Registers_t r = {random.one_in(2) ? odd_thread(random).raw : odd_word(random),
                              odd_word(random),
                              odd_word(random),
                              odd_word(random),
                              odd_word(random),
                              odd_word(random),
                              odd_word(random)};
    block.calls++;
    fuzz_raw_entry(&r, random.below(gates));
    block.tally.of(raw, 0)++;
}

} // namespace fuzz
