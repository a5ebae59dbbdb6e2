// SPDX-License-Identifier: BSD-2-Clause
// Exceptions as messages, and system calls of other systems (docs/x2-arm.md).
#include <cobnut/control.h>

#include "../harness.h"
#include "../machine.h"

extern "C" {
using x2test::Word;
Word x2test_swi(Word, Word, Word);
Word x2test_undefined(Word, Word, Word);
Word x2test_unaligned(Word address, Word, Word);
Word x2test_coprocessor(Word, Word, Word);
Word x2test_mask_interrupts(Word, Word, Word);
Word x2test_call_keeps(Word entry, Word timeouts, Word);
Word x2test_no_such_call(Word, Word, Word);
extern const char x2test_swi_ip[], x2test_undefined_ip[], x2test_unaligned_ip[], x2test_thumb_count[];
}

// What R4 to R11 hold belongs to the caller.
__asm__(".text\n"
        ".globl x2test_swi, x2test_undefined, x2test_unaligned, x2test_coprocessor, x2test_mask_interrupts\n"
        ".globl x2test_call_keeps, x2test_no_such_call, x2test_swi_ip, x2test_undefined_ip, x2test_unaligned_ip\n"
        ".globl x2test_thumb_count\n"
        "x2test_thumb_count: .hword 0x3001, 0xE7FD\n" // adds r0, #1; b x2test_thumb_count
        "b .\n"
        "x2test_swi: stmfd sp!, {r4-r7, lr}\n"
        "mov r0, #0x10; mov r1, #0x11; mov r2, #0x12; mov r3, #0x13\n"
        "mov r4, #0x14; mov r5, #0x15; mov r6, #0x16; mov r7, #0x17; mov lr, #0x1E\n"
        "swi 0x345678\n"
        "x2test_swi_ip:\n"
        "add r0, r0, r1; add r0, r0, r2; add r0, r0, r3; add r0, r0, r4\n"
        "add r0, r0, r5; add r0, r0, r6; add r0, r0, r7; add r0, r0, lr\n"
        "ldmfd sp!, {r4-r7, pc}\n"
        "x2test_undefined:\n"
        "x2test_undefined_ip: .word 0xE7F0A5F5\n"
        "mov r0, #1; mov pc, lr\n"
        "x2test_unaligned:\n"
        "x2test_unaligned_ip: ldr r0, [r0, #2]\n"
        "mov pc, lr\n"
        "x2test_coprocessor: mrc p15, 0, r0, c1, c0, 0\n"
        "mov pc, lr\n"
        "x2test_mask_interrupts: msr cpsr_c, #0xD3\n" // supervisor mode, everything masked: users change nothing by it
        "mrs r0, cpsr\n"
        "mov pc, lr\n"
        // An IPC that does nothing, by its entry: what the binding says that it keeps. 0 if it does.
        "x2test_call_keeps: stmfd sp!, {r4-r11, lr}\n"
        "mov r12, r0; mov r2, r1; mov r0, #0; mov r1, #0\n"
        "mov r3, #0; mov r4, #0x24; mov r5, #0x25; mov r6, #0x26; mov r7, #0x27; mov r11, sp\n"
        "mov lr, pc; mov pc, r12\n"
        "cmp r11, sp; movne r0, #1\n"
        "cmp r4, #0x24; cmpeq r5, #0x25; cmpeq r6, #0x26; cmpeq r7, #0x27; movne r0, #2\n"
        "ldmfd sp!, {r4-r11, pc}\n"
        "x2test_no_such_call: mvn pc, #0x0B\n" // SYSTEM_CALLS + 0xf4
);

namespace x2test {
namespace {

constexpr Word exception_label = 0xFFB00000;

/// The message of an exception that is no system call.
void raises(Function f, Word x, const char *ip, Word number, Word code)
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, f, x);
    const Outcome &out = finish(a, true);
    CHECK_EQUAL(out.exceptions, 1);
    CHECK_EQUAL(out.exception[0], exception_label | 6);
    if (ip) CHECK_EQUAL(out.exception[1], reinterpret_cast<Word>(ip));
    CHECK(out.exception[2] <= stack_of(a) && out.exception[2] > stack_of(a) - page_size);
    CHECK_EQUAL(out.exception[3] & 0x1F, 0x10); // user mode
    CHECK_EQUAL(out.exception[4], number);
    CHECK_EQUAL(out.exception[5], code);
    CHECK_EQUAL(out.exception[6], a->local.raw);
}

void undefined() { raises(x2test_undefined, 0, x2test_undefined_ip, 1, 0xE7F0A5F5); }
void unaligned() { raises(x2test_unaligned, arena_page(0), x2test_unaligned_ip, 0x100, 1); }
/// The system coprocessor is the kernel's.
void coprocessor() { raises(x2test_coprocessor, 0, nullptr, 1, 0xEE110F10); }

/// The answer says where to go on, and with what.
void goes_on_behind()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_undefined);
    finish(a, true);
    CHECK_EQUAL(a->out.exceptions, 1);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, a->out.exception[1] + 4);
    CHECK(L4_IpcSucceeded(L4_Reply(a->id)));
    CHECK_EQUAL(finish(a).value, 1);
}

/// A software interrupt goes to the exception handler alone: it sees all registers of the call, and sets them.
void system_call()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_swi);
    const Outcome &out = finish(a, true);
    CHECK_EQUAL(out.exceptions, 1);
    CHECK_EQUAL(out.exception[0], exception_label | 13);
    CHECK_EQUAL(out.exception[1], reinterpret_cast<Word>(x2test_swi_ip));
    for (Word i = 0; i < 8; i++) CHECK_EQUAL(out.exception[2 + i], 0x10 + i);
    CHECK(stack_of(a) - out.exception[10] < page_size); // SP
    CHECK_EQUAL(out.exception[11], 0x1E);
    CHECK_EQUAL(out.exception[12], 0xEF345678);
    CHECK_EQUAL(out.exception[13] & 0x1F, 0x10);
    Word mr[14];
    for (int i = 0; i < 14; i++) mr[i] = a->out.exception[i];
    mr[0] = 13;
    for (Word i = 0; i < 8; i++) mr[2 + i] = 1u << i;
    mr[11] = 0x100;
    mr[13] = 0xDF; // privileged mode, everything masked: of FLAGS only the condition is the user's
    L4_LoadMRs(0, 14, mr);
    CHECK(L4_IpcSucceeded(L4_Reply(a->id)));
    CHECK_EQUAL(finish(a).value, 0x1FF);
}

/// Users stay users.
void mode_is_kept()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(ask(a, x2test_mask_interrupts).value & 0xFF, 0x50); // user mode, FIQ masked by the kernel
    CHECK_EQUAL(a->out.exceptions, 0);
}

void ipc_keeps_registers()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    auto *page = static_cast<L4_KernelInterfacePage_t *>(L4_GetKernelInterface());
    CHECK_EQUAL(ask(a, x2test_call_keeps, kip_area + page->Ipc).value, 0);
    CHECK_EQUAL(ask(a, x2test_call_keeps, kip_area + page->Lipc).value, 0);
}

/// Runs an instruction in the thread's own message registers with R0. What it has just written there is in no cache by
/// then: these are smaller than what it reads meanwhile.
Word run_in_utcb(Word r0, Word instruction, Word)
{
    constexpr Word place = 40, line = 32;
    volatile Word *const code = __L4_Utcb() + place;
    code[0] = instruction;
    code[1] = machine::return_instruction;
    Word sum = 0;
    for (Word round = 0; round < 2; round++)
        for (Word at = arena_page(0); at < arena_page(arena_pages); at += line)
            sum += *reinterpret_cast<volatile Word *>(at);
    return reinterpret_cast<Function>(reinterpret_cast<Word>(code))(r0, sum, 0);
}

/// UTCBs are in no page table; the kernel has to know what code in one has done, as of any other: which fault, and
/// which instruction.
void code_in_a_utcb()
{
    constexpr Word load = 0xE5900000, undefined_instruction = 0xE7F0A5F5, breakpoint = 0xE1200070; // load: ldr r0, [r0]
    Agent *a = agent(Kind::other);
    if (!a) return;
    mark_arena(0x700);
    give_page(a, 3, free_area, L4_Readable);
    CHECK_EQUAL(ask(a, run_in_utcb, free_area, load).value, 0x703);
    CHECK_EQUAL(a->out.faults, 0);
    const Outcome &missing = ask(a, run_in_utcb, free_area + page_size, load);
    CHECK_EQUAL(missing.faults, 1);
    CHECK(!missing.write_fault());
    scratch_reset();
    constexpr Word raising[] = {undefined_instruction, breakpoint};
    for (const Word instruction : raising) {
        Agent *b = agent(Kind::other);
        if (!b) return;
        begin(b, run_in_utcb, 0, instruction);
        const Outcome &out = finish(b, true);
        CHECK_EQUAL(out.exceptions, 1);
        if (out.exception[4] == 1) CHECK_EQUAL(out.exception[5], instruction);
        else CHECK_EQUAL(out.exception[5], 2); // a breakpoint, where the core has them
    }
}

/// A jump to where no system call is: a fault, which nothing can be mapped for.
void no_such_call()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_no_such_call);
    finish(a, true);
    CHECK(a->out.stuck);
    CHECK_EQUAL(a->out.fault_address, 0xFFFFFFF4);
}

/// A thread in Thumb state that is read from outside and written as it was goes on in that.
void thumb_state_is_kept()
{
    constexpr Word control = cobnut::control_halt | cobnut::control_read;
    constexpr Word set_and_go = cobnut::control_resume | cobnut::control_write;
    if (machine::memory) return; // the StrongARM has no Thumb code
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, [](Word, Word, Word) -> Word {
        for (;;) {}
    });
    pause(1000);
    cobnut::AllRegisters r;
    CHECK_EQUAL(cobnut::control_thread(a->id, control, nullptr, &r), 0);
    r.pc = reinterpret_cast<Word>(x2test_thumb_count) | 1, r.r[0] = 0;
    for (Word before = 0, round = 0; round < 2; round++, before = r.r[0]) {
        CHECK_EQUAL(cobnut::control_thread(a->id, set_and_go, &r), 1);
        pause(1000);
        CHECK_EQUAL(cobnut::control_thread(a->id, control, nullptr, &r), 0);
        CHECK(r.r[0] > before);
    }
}

} // namespace

const Test exception_tests[] = {
    {"exception.undefined", undefined},
    {"exception.unaligned", unaligned},
    {"exception.coprocessor", coprocessor},
    {"exception.goes_on_behind", goes_on_behind},
    {"exception.system_call", system_call},
    {"exception.mode_is_kept", mode_is_kept},
    {"exception.ipc_keeps_registers", ipc_keeps_registers},
    {"exception.no_such_call", no_such_call},
    {"exception.code_in_a_utcb", code_in_a_utcb},
    {"exception.thumb_state_is_kept", thumb_state_is_kept},
    {nullptr, nullptr},
};

} // namespace x2test
