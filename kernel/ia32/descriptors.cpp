// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/descriptors.hpp"

#include "core/arch.hpp"
#include "core/string.hpp"
#include "ia32/cpu.hpp"
#include "ia32/page_tables.hpp"

extern "C" {
Gdt gdt;
extern char double_fault[];
extern void (*const entries[])();            // by vector (ia32/entry.S)
}

namespace {

struct [[gnu::packed]] TableRegister {
    std::uint16_t limit;
    Word base;
};

enum GateBits : Word { gate_interrupt = 0x8e00, gate_task = 0x8500, gate_from_user = 0x6000 };

constexpr Word vectors = 256;

Processor fault_tss;
char fault_stack[1024];
alignas(page_size) Descriptor interrupts[vectors];

Descriptor gate(void (*handler)(), Word bits) {
    Word at = reinterpret_cast<Word>(handler);
    return {KERNEL_CODE << 16 | (at & 0xffff), (at & 0xffff0000) | bits};
}

Descriptor task_segment(const Processor& tss, Word bytes) {
    return segment(reinterpret_cast<Word>(&tss), bytes - 1, desc_present | desc_tss);
}

}  // namespace

namespace descriptors {

void initialise(void (*ipc)()) {
    constexpr Word flat = desc_granular | desc_32bit | desc_present;
    gdt.entry[KERNEL_CODE >> 3] = segment(0, ~Word{0}, flat | desc_code);
    gdt.entry[KERNEL_DATA >> 3] = segment(0, ~Word{0}, flat | desc_data);
    // The user half is written when the first thread runs. gs:0 shows one word and no more, and only for reading.
    gdt.entry[USER_UTCB >> 3] =
        segment(UTCB_WORD_PAGE, sizeof(Word) - 1, desc_32bit | desc_present | desc_user | desc_read_only);
    gdt.entry[TSS_SELECTOR >> 3] = task_segment(processor, (io_map_open >> 16) + sizeof io_bitmap);
    gdt.entry[FAULT_TSS >> 3] = task_segment(fault_tss, sizeof fault_tss);

    processor.set_current(nullptr);
    processor.ss0 = KERNEL_DATA;
    processor.io_map = fault_tss.io_map = io_map_none;
    fault_tss.cr3 = physical(&page_tables::kernel_directory());
    fault_tss.eip = reinterpret_cast<Word>(double_fault);
    fault_tss.esp = reinterpret_cast<Word>(fault_stack + sizeof fault_stack);
    fault_tss.eflags = 2;
    fault_tss.cs = KERNEL_CODE;
    fault_tss.ss = fault_tss.ds = fault_tss.es = KERNEL_DATA;

    // A gate that is missing, or not for users, is a protection fault that names it (manual A.8).
    for (Word n = 0; n < VECTOR_SYSCALLS + SYSCALLS; ++n)
        interrupts[n] = gate(entries[n], gate_interrupt | (n == 3 || n >= VECTOR_IPC ? gate_from_user : 0u));
    interrupts[8] = {FAULT_TSS << 16, gate_task};
    if (ipc) interrupts[VECTOR_IPC] = gate(ipc, gate_interrupt | gate_from_user);

    TableRegister gdtr{sizeof(Gdt) - 1, reinterpret_cast<Word>(&gdt)};
    // The Pentium reads the gate of vector 6 for a locked cmpxchg8b of a register under a bus lock that never ends;
    // where it may not write, there is a page fault (Pentium Processor Specification Update, erratum 81; faults.cpp).
    page_tables::map_fixed(IDT_PAGE, physical(interrupts), page_tables::present);
    TableRegister idtr{sizeof interrupts - 1, IDT_PAGE};
    asm volatile("lgdt %0\n\t"
                 "lidt %1\n\t"
                 "ljmp %2, $1f\n"
                 "1:\tmov %3, %%ds\n\tmov %3, %%es\n\tmov %3, %%ss\n\t"
                 "mov %4, %%fs\n\tmov %4, %%gs\n\t"
                 "lldt %w4\n\t"
                 "ltr %w5"
        :
        : "m"(gdtr), "m"(idtr), "i"(KERNEL_CODE), "r"(KERNEL_DATA), "r"(0), "r"(TSS_SELECTOR)
        : "memory");
}

}  // namespace descriptors
