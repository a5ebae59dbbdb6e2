// SPDX-License-Identifier: BSD-2-Clause
// How system calls are called (manual A.1, A.2): which registers survive; a changed ESP would not come back from the
// library's wrapper. And modes of the processor that no user gets into.
#include "../harness.h"

#include <initializer_list>
#include <l4/schedule.h>

namespace x2test {
namespace {

void kernel_interface()
{
    Word base, version, flags, id, ebx = 0x11111111, edi = 0x22222222;
    __asm__ volatile("lock; nop" : "=a"(base), "=c"(version), "=d"(flags), "=S"(id), "+b"(ebx), "+D"(edi));
    CHECK(base == reinterpret_cast<Word>(L4_GetKernelInterface()));
    CHECK_EQUAL(ebx, 0x11111111);
    CHECK_EQUAL(edi, 0x22222222);
}

constexpr Word marks[] = {0x1A1A1A1A, 0x2B2B2B2B, 0x3C3C3C3C, 0x4D4D4D4D, 0x5E5E5E5E, 0x6F6F6F6F};
Word utcb() { return L4_MyLocalId().raw; }

/// No register at all changes, whatever the destination is.
void thread_switch_registers()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    for (const Word dest : {Word{0}, main_id.raw, utcb(), a->id.raw, a->local.raw, unused_id().raw}) {
        L4_Registers_t r = {dest, marks[0], marks[1], marks[2], marks[3], marks[4], marks[5]};
        __L4_Call_Stub(L4_KIP_THREAD_SWITCH, &r);
        CHECK_EQUAL(r.eax, dest);
        CHECK_EQUAL(r.ecx, marks[0]);
        CHECK_EQUAL(r.edx, marks[1]);
        CHECK_EQUAL(r.esi, marks[2]);
        CHECK_EQUAL(r.edi, marks[3]);
        CHECK_EQUAL(r.ebx, marks[4]);
        CHECK_EQUAL(r.ebp, marks[5]);
    }
}

void system_clock_registers()
{
    L4_Registers_t r = {1, 2, 3, 4, 5, marks[4], marks[5]};
    __L4_Call_Stub(L4_KIP_SYSTEM_CLOCK, &r);
    CHECK_EQUAL(r.ebx, marks[4]);
    CHECK_EQUAL(r.ebp, marks[5]);
    CHECK(L4_SystemClock().raw >= (static_cast<L4_Word64_t>(r.edx) << 32 | r.eax));
}

/// Unmap keeps EDI and delivers MR0 in ESI.
void unmap_registers()
{
    const Word page = page_at(arena_page(0), 0).raw;
    arena_word(0) = 1;
    L4_Registers_t r = {0, 0, 0, page, utcb(), 0, 0};
    __L4_Call_Stub(L4_KIP_UNMAP, &r);
    CHECK_EQUAL(r.edi, utcb());
    CHECK_EQUAL(r.esi, page | L4_FullyAccessible); // its status: written
}

/// A received message's first words are in registers, EDI is the UTCB's address still.
Word do_send_marks(Word to, Word, Word)
{
    const Word mr[] = {0x00330003, marks[1], marks[2], marks[3]};
    L4_LoadMRs(0, 4, mr);
    return L4_Send(L4_ThreadId_t{.raw = to}).raw;
}
void ipc_registers()
{
    for (const Word field : {Word{L4_KIP_IPC}, Word{L4_KIP_LIPC}})
        for (const Kind kind : {Kind::here, Kind::other}) {
            Agent *a = agent(kind);
            if (!a) return;
            begin(a, do_send_marks, main_id.raw);
            L4_Registers_t r = {0, L4_Timeouts(L4_Never, second), a->id.raw, 0, utcb(), 0, 0};
            __L4_Call_Stub(field, &r);
            CHECK_EQUAL(r.eax, kind == Kind::here ? a->local.raw : a->id.raw);
            CHECK_EQUAL(r.esi, 0x00330003);
            CHECK_EQUAL(r.ebx, marks[1]);
            CHECK_EQUAL(r.ebp, marks[2]);
            CHECK_EQUAL(r.edi, utcb());
            Word third;
            L4_StoreMR(3, &third);
            CHECK_EQUAL(third, marks[3]);
            finish(a);
        }
}

/// Any instruction that leaves a return address on the stack may enter the kernel.
void entered_by_jump()
{
    const auto *kip = static_cast<const L4_KernelInterfacePage_t *>(L4_GetKernelInterface());
    const Word entry = reinterpret_cast<Word>(kip) + kip->ThreadSwitch;
    Word dest = 0;
    __asm__ volatile("push $1f; jmp *%1; 1:" : "+a"(dest) : "r"(entry) : "memory", "cc");
    CHECK_EQUAL(dest, 0);
    Word low, high;
    const Word clock = reinterpret_cast<Word>(kip) + kip->SystemClock;
    __asm__ volatile("push $1f; jmp *%2; 1:"
                     : "=a"(low), "=d"(high)
                     : "r"(clock)
                     : "ecx", "esi", "edi", "memory", "cc");
    CHECK(L4_SystemClock().raw - (static_cast<L4_Word64_t>(high) << 32 | low) < 10'000'000);
}

/// The word at the UTCB's address is the program's between calls that use message registers.
void word_at_the_utcb()
{
    volatile Word *const at = reinterpret_cast<volatile Word *>(utcb());
    *at = marks[0];
    (void)L4_SystemClock();
    L4_Yield();
    CHECK_EQUAL(*at, marks[0]);
}

/// The UTCB's words that the kernel gives no meaning keep their contents over everything.
void thread_words()
{
    volatile Word *const word0 = reinterpret_cast<volatile Word *>(utcb()) + L4_UTCB_THREAD_WORD0;
    const Word old = *word0;
    *word0 = marks[0];
    Agent *a = agent(Kind::other);
    if (a) ask(a, do_nothing);
    const Word now = *word0;
    *word0 = old;
    CHECK_EQUAL(now, marks[0]);
}

Word do_return_to_virtual_8086(Word, Word, Word)
{
    __asm__ volatile("mov %%esp, %%eax; pushl $0; pushl $0; pushl $0; pushl $0\n"
                     "mov %%ss, %%ecx; pushl %%ecx; pushl %%eax; pushl $0x23202; pushl %%cs; pushl $1f; iret\n"
                     "1: mov %%eax, %%esp"
                     :
                     :
                     : "eax", "ecx", "memory");
    return 8086;
}
/// A processor looks at the VM flag of an iret at privilege 0 only. An emulator that always does lets a user into a
/// mode in which segments mean nothing, and from which every entry saves four more words.
void no_virtual_8086_mode()
{
    constexpr Kind kinds[] = {Kind::large, Kind::small};
    for (Kind kind : kinds) {
        Agent *a = agent(kind), *b = agent(kind);
        if (!a || !b) return;
        begin(a, do_return_to_virtual_8086);
        CHECK(!finish(a, true).done || a->out.value == 8086);
        pause(5000);
        CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
        remove(a);
        remove(b);
    }
}

/// To code at `code`, below 1 MB, with the registers of a call to `to`.
Word do_call_from_virtual_8086(Word to, Word code, Word)
{
    __asm__ volatile("pushl $0; pushl $0; pushl $0; pushl $0\n"
                     "mov %%ss, %%edi; pushl %%edi; pushl %%esp; pushl $0x23202; pushl %1; pushl $0; iret"
                     :
                     : "a"(to), "b"(code >> 4), "d"(to), "c"(0), "S"(0)
                     : "edi", "memory");
    return 8086;
}
/// Nor does a message leave such a mode, by the shortest way or any other.
void no_call_from_virtual_8086_mode()
{
    constexpr Word code = 0x10000;
    Agent *a = agent(Kind::large), *b = agent(Kind::other), *server = agent(Kind::other);
    if (!a || !b || !server) return;
    arena_word(0) = 0x30CD; // int $0x30: kernel/ia32/layout.hpp
    give_page(a, 0, code, L4_FullyAccessible);
    begin(server, do_increment_words, L4_anythread.raw);
    pause(5000);
    begin(a, do_call_from_virtual_8086, server->id.raw, code);
    CHECK(!finish(a, true).done);
    CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
    CHECK_EQUAL(L4_Schedule(server->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
}

Word do_null_code_segment(Word, Word, Word)
{
    __asm__ volatile("xor %%eax, %%eax; .byte 0x8E, 0xC8; int3" : : : "eax"); // mov %ax, %cs
    return 1;
}
/// No processor moves anything into CS. QEMU does so with a null selector, which looks like the kernel's own privilege.
void no_null_code_segment()
{
    constexpr Kind kinds[] = {Kind::large, Kind::small};
    for (Kind kind : kinds) {
        Agent *a = agent(kind), *b = agent(kind);
        if (!a || !b) return;
        begin(a, do_null_code_segment);
        CHECK(!finish(a, true).done);
        CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
        remove(a);
        remove(b);
    }
}

/// By the gate itself: without a segment, code is of 16 bits. 0x30 is IPC's (kernel/ia32/layout.hpp).
Word do_call_with_null_code_segment(Word to, Word, Word)
{
    Word from = to, tag = 0;
    __asm__ volatile("push %%ebp; .byte 0x8E, 0xCB; int $0x30; pop %%ebp" // mov %bx, %cs
                     : "+a"(to), "+d"(from), "+S"(tag)
                     : "b"(0), "c"(0)
                     : "edi", "memory", "cc");
    return L4_IpcFailed(L4_MsgTag_t{.raw = tag});
}
/// Where it does, the thread that waits has such a frame, and is returned to by the shortest way.
void no_null_code_segment_while_waiting()
{
    Agent *server = agent(Kind::other), *a = agent(Kind::large);
    if (!server || !a) return;
    begin(server, do_increment_words, a->id.raw);
    pause(5000);
    begin(a, do_call_with_null_code_segment, server->id.raw);
    const Outcome &out = finish(a, true);
    CHECK(!out.done || out.value == 0);
    CHECK_EQUAL(ask(agent(Kind::large), do_read, kip_area).value, L4_KernelMagic);
}

} // namespace

const Test registers_tests[] = {
    {"registers.kernel_interface", kernel_interface},
    {"registers.ipc", ipc_registers},
    {"registers.thread_switch", thread_switch_registers},
    {"registers.system_clock", system_clock_registers},
    {"registers.unmap", unmap_registers},
    {"registers.entered_by_jump", entered_by_jump},
    {"registers.word_at_the_utcb", word_at_the_utcb},
    {"registers.thread_words", thread_words},
    {"registers.no_virtual_8086_mode", no_virtual_8086_mode},
    {"registers.no_call_from_virtual_8086_mode", no_call_from_virtual_8086_mode},
    {"registers.no_null_code_segment", no_null_code_segment},
    {"registers.no_null_code_segment_while_waiting", no_null_code_segment_while_waiting},
    {nullptr, nullptr},
};

} // namespace x2test
