// SPDX-License-Identifier: BSD-2-Clause
// Which registers system calls leave alone (manual A.3), and modes of the processor that no user gets into.
#include "../harness.h"

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

void ipc()
{
    const Word utcb = L4_MyLocalId().raw;
    L4_Registers_t r = {0, L4_Timeouts(L4_ZeroTime, L4_ZeroTime), 0, 0, utcb, 1, 2};
    __L4_Call_Stub(L4_KIP_IPC, &r); // a changed ESP would not come back here
    CHECK_EQUAL(r.edi, utcb);
}

void thread_switch()
{
    L4_Registers_t r = {0, 1, 2, 3, 4, 5, 6};
    __L4_Call_Stub(L4_KIP_THREAD_SWITCH, &r);
    CHECK(r.eax == 0 && r.ecx == 1 && r.edx == 2 && r.esi == 3 && r.edi == 4 && r.ebx == 5 && r.ebp == 6);
}

void system_clock()
{
    L4_Registers_t r = {0, 0, 0, 0, 0, 0xB0B0, 0xB1B1};
    __L4_Call_Stub(L4_KIP_SYSTEM_CLOCK, &r);
    CHECK(r.ebx == 0xB0B0 && r.ebp == 0xB1B1);
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
/// A processor looks at the VM flag of an iret at privilege 0 only. An emulator that always does lets a user into a mode in
/// which segments mean nothing, and from which every entry saves four more words.
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

} // namespace

const Test registers_tests[] = {
    {"registers.kernel_interface", kernel_interface},
    {"registers.ipc", ipc},
    {"registers.thread_switch", thread_switch},
    {"registers.system_clock", system_clock},
    {"registers.no_virtual_8086_mode", no_virtual_8086_mode},
    {"registers.no_null_code_segment", no_null_code_segment},
    {nullptr, nullptr},
};

} // namespace x2test
