// SPDX-License-Identifier: BSD-2-Clause
// The report of a fault of the kernel's own: registers, the thread that ran, and the words on its stack that may be
// return addresses. lab/cobnut/backtrace.py finds out which of them are, and their names.
#include "ia32/panic.hpp"

#include "core/arch.hpp"
#include "core/print.hpp"
#include "ia32/cpu.hpp"
#include "ia32/layout.hpp"

extern "C" char text_start[], text_end[];

namespace {

bool speaking;

void show(const char* name, Word value) { print(name, hex(value)); }

void show_thread(const Thread& t, Word stack) {
    // In the fast path ESP points into the thread; a fault there is saved over the frame, which sysenter leaves
    // unused.
    bool in_fast_path = stack - reinterpret_cast<Word>(&t) < sizeof(Thread);
    bool by_stub = in_fast_path && cpu::features.sysenter;
    show(" thread ", t.id.raw);
    show(" space ", reinterpret_cast<Word>(t.space));
    show(" ip ", by_stub ? t.fast.eip : t.frame.eip);
    show(" sp ", by_stub ? t.fast.esp : t.frame.esp);
    print("\n");
}

void show_stack(Word at) {
    Word end = reinterpret_cast<Word>(&processor);
    for (; end - at <= KERNEL_STACK_BYTES && at != end; at += sizeof(Word)) {
        Word word = *reinterpret_cast<const Word*>(at);
        if (word <= reinterpret_cast<Word>(text_start) || word > reinterpret_cast<Word>(text_end)) continue;
        show(" stack ", word);
        print("\n");
    }
}

}  // namespace

void panic(const KernelFrame& f, Word stack, Word vector, Word error) {
    static constexpr const char names[][6] = {
        " edi ", " esi ", " ebp ", " esp ", " ebx ", " edx ", " ecx ", " eax ", " eip ", " cs ", " efl "};
    const Word* word = &f.registers.edi;
    for (const char* name : names) show(name, *word++);
    print("\n");
    // A fault in the following code leads here again.
    if (!speaking) {
        speaking = true;
        if (const Thread* t = processor.current()) show_thread(*t, stack);
        show_stack(stack);
    }
    // Programs that watch the console take this line for the end of the run.
    print("cobnut: kernel fault ", vector, " error ", error);
    show(" at ", f.eip);
    show(" cr2 ", cpu::read_cr2());
    print("\n");
    arch::power_off();
}

// Runs on the double fault's own task segment and stack. The state before it is in the main task segment, in another
// order.
extern "C" [[noreturn]] void double_fault_panic() {
    constexpr Word vector_double_fault = 8;
    KernelFrame f;
    const Word* from = &processor.edi;
    for (Word* to = &f.registers.edi; to != &f.eip;) *to++ = *from--;
    f.eip = processor.eip, f.cs = processor.cs, f.eflags = processor.eflags;
    panic(f, processor.esp, vector_double_fault, 0);
}
