// SPDX-License-Identifier: BSD-2-Clause
// What the derived functions ask of the kernel (manual 2.3 to 6.4), in the registers of A.2, and the thread control
// registers (2.2, A.1).
#include "check.h"
#include "fake_kernel.h"

#include <initializer_list>

namespace {

const L4_ThreadId_t thread = {.raw = 0x00100001}, other = {.raw = 0x00200001}, local = {.raw = 0x00A00100};

/// Checks entry and registers EAX, ECX, EDX, ESI, EDI, EBX, EBP of the last call; those that are -2 do not matter.
void expect_call(L4_Word_t field, const L4_Word_t (&registers)[7])
{
    EXPECT(fake::called_field, field);
    const L4_Registers_t &c = fake::called;
    const L4_Word_t real[] = {c.eax, c.ecx, c.edx, c.esi, c.edi, c.ebx, c.ebp};
    for (int i = 0; i < 7; i++)
        if (registers[i] != ~1u) EXPECT(real[i], registers[i]);
}
constexpr L4_Word_t any = ~1u;

void exchange_registers() // 2.3: bits H0 R1 S2 s3 i4 f5 u6 p7 h8; bit 9 is ignored
{
    const auto control = [] { return fake::called.ecx & ~0x200u; };
    fake::answer = {.eax = local.raw, .ecx = 5, .edx = 0x5B, .esi = 0x1B, .edi = 0xF1, .ebx = 0xAB, .ebp = other.raw};
    L4_Start(thread);
    EXPECT(control(), 0x106);
    L4_Start(thread, 0x5555, 0x1111);
    EXPECT(control(), 0x11E);
    expect_call(L4_KIP_EXCHANGE_REGISTERS, {thread.raw, any, 0x5555, 0x1111, any, any, any});
    L4_Start(thread, 0x5555, 0x1111, 0xF);
    EXPECT(control(), 0x13E);
    expect_call(L4_KIP_EXCHANGE_REGISTERS, {thread.raw, any, 0x5555, 0x1111, 0xF, any, any});
    L4_Word_t sp, ip, flags, handle, old;
    L4_ThreadId_t pager;
    EXPECT(L4_Stop(thread).raw, 5);
    EXPECT(control(), 0x101);
    EXPECT(L4_AbortReceive_and_stop(thread).raw, 5);
    EXPECT(control(), 0x103);
    EXPECT(L4_AbortSend_and_stop(thread).raw, 5);
    EXPECT(control(), 0x105);
    EXPECT(L4_AbortIpc_and_stop(thread, sp, ip, flags).raw, 5);
    EXPECT(control(), 0x107);
    EXPECT(sp == 0x5B && ip == 0x1B && flags == 0xF1, 1);
    EXPECT(L4_UserDefinedHandle(thread), 0xAB);
    EXPECT(control(), 0);
    L4_Set_UserDefinedHandle(thread, 0x77);
    EXPECT(control(), 0x40);
    expect_call(L4_KIP_EXCHANGE_REGISTERS, {thread.raw, any, any, any, any, 0x77, any});
    EXPECT(L4_Pager(thread).raw, other.raw);
    L4_Set_Pager(thread, other);
    EXPECT(control(), 0x80);
    expect_call(L4_KIP_EXCHANGE_REGISTERS, {thread.raw, any, any, any, any, any, other.raw});
    EXPECT(L4_ExchangeRegisters(thread, 0x1FF, 1, 2, 3, 4, other, old, sp, ip, flags, handle, pager).raw, local.raw);
    expect_call(L4_KIP_EXCHANGE_REGISTERS, {thread.raw, 0x1FF, 1, 2, 3, 4, other.raw});
    EXPECT(old == 5 && handle == 0xAB && pager.raw == other.raw, 1);

    fake::called_field = 0;
    EXPECT(L4_GlobalId(thread).raw == thread.raw && L4_LocalId(local).raw == local.raw, 1);
    EXPECT(fake::called_field, 0); // nothing to ask
    EXPECT(L4_LocalId(thread).raw, local.raw);
    EXPECT(control(), 0);
    fake::answer.eax = thread.raw;
    EXPECT(L4_GlobalId(local).raw, thread.raw);
    EXPECT(L4_SameThreads(thread, local) && !L4_SameThreads(other, local), 1);

    for (const L4_Word_t s : {1u, 2u, 4u}) {
        EXPECT(L4_ThreadWasHalted({s}) != 0, s == 1);
        EXPECT(L4_ThreadWasReceiving({s}) != 0, s == 2);
        EXPECT(L4_ThreadWasSending({s}) != 0, s == 4);
        EXPECT(L4_ThreadWasIpcing({s}) != 0, s != 1);
    }
}

void control_calls() // 2.4, 4.3, 6.3
{
    fake::answer = {.eax = 1, .ecx = 0x80000003};
    EXPECT(L4_ThreadControl(thread, other, local, thread, reinterpret_cast<void *>(0x800)), 1);
    expect_call(L4_KIP_THREAD_CONTROL, {thread.raw, thread.raw, local.raw, other.raw, 0x800, any, any});
    L4_AssociateInterrupt(thread, other);
    expect_call(L4_KIP_THREAD_CONTROL, {thread.raw, other.raw, 0, thread.raw, ~0u, any, any});
    L4_DeassociateInterrupt(thread);
    expect_call(L4_KIP_THREAD_CONTROL, {thread.raw, thread.raw, 0, thread.raw, ~0u, any, any});
    L4_Word_t old = 0;
    EXPECT(L4_SpaceControl(thread, 7, {.raw = 1}, {.raw = 2}, other, old), 1);
    expect_call(L4_KIP_SPACE_CONTROL, {thread.raw, 7, 1, 2, other.raw, any, any});
    EXPECT(old, 0x80000003);
    EXPECT(L4_ProcessorControl(0, 1, 2, 3), 1);
    expect_call(L4_KIP_PROCESSOR_CONTROL, {0, 1, 2, 3, any, any, any});
}

void scheduling() // 3.2, 3.4, 3.5
{
    fake::answer = {.eax = 0xABCDEF03, .edx = 0x12345678};
    EXPECT(L4_SystemClock().raw, 0x12345678'ABCDEF03);
    L4_ThreadSwitch(thread);
    expect_call(L4_KIP_THREAD_SWITCH, {thread.raw, any, any, any, any, any, any});
    L4_Yield();
    expect_call(L4_KIP_THREAD_SWITCH, {0, any, any, any, any, any, any});
    L4_Word_t old = 0;
    // EAX dest, ECX prio, EDX time, ESI processor, EDI preemption
    EXPECT(L4_Schedule(thread, 1, 2, 3, 4, old) & 0xFF, 3);
    expect_call(L4_KIP_SCHEDULE, {thread.raw, 3, 1, 2, 4, any, any});
    EXPECT(old, 0x12345678);
    L4_Set_Priority(thread, 100);
    expect_call(L4_KIP_SCHEDULE, {thread.raw, 100, ~0u, ~0u, ~0u, any, any});
    L4_Set_ProcessorNo(thread, 1);
    expect_call(L4_KIP_SCHEDULE, {thread.raw, ~0u, ~0u, 1, ~0u, any, any});
    L4_Set_Timeslice(thread, L4_TimePeriod(5), L4_ZeroTime);
    expect_call(L4_KIP_SCHEDULE, {thread.raw, ~0u, 0x00050400, ~0u, ~0u, any, any});
    L4_Set_PreemptionDelay(thread, 0xAB, 0x1234);
    expect_call(L4_KIP_SCHEDULE, {thread.raw, ~0u, ~0u, ~0u, 0x00AB1234, any, any});
    L4_Time_t slice, quantum;
    L4_Timeslice(thread, slice, quantum);
    expect_call(L4_KIP_SCHEDULE, {thread.raw, ~0u, ~0u, ~0u, ~0u, any, any});
    EXPECT(slice.raw == 0x1234 && quantum.raw == 0x5678, 1);
}

void expect_ipc(L4_Word_t field, L4_Word_t to, L4_Word_t from, L4_Word_t timeouts, L4_Word_t mask = ~0u)
{
    EXPECT(fake::called_field, field);
    EXPECT(fake::ipc_to, to);
    EXPECT(fake::ipc_from_specifier, from);
    EXPECT(fake::ipc_timeouts & mask, timeouts & mask);
}

void ipc() // 5.6; a timeout without a phase is not looked at
{
    const L4_Time_t s = {.raw = 0x11}, r = {.raw = 0x22};
    constexpr L4_Word_t sent = 0xFFFF0000, received = 0xFFFF;
    fake::answer = {.esi = 0x8000};
    fake::ipc_sender = other.raw;
    L4_ThreadId_t from;
    EXPECT(L4_Ipc(thread, other, 0x110022, from).raw, 0x8000);
    expect_ipc(L4_KIP_IPC, thread.raw, other.raw, 0x110022);
    EXPECT(from.raw, other.raw);
    L4_Lipc(thread, other, 0x110022, &from);
    expect_ipc(L4_KIP_LIPC, thread.raw, other.raw, 0x110022);
    L4_Call(thread);
    expect_ipc(L4_KIP_IPC, thread.raw, thread.raw, 0);
    L4_Call(thread, s, r);
    expect_ipc(L4_KIP_IPC, thread.raw, thread.raw, 0x110022);
    L4_Send(thread);
    expect_ipc(L4_KIP_IPC, thread.raw, 0, 0, sent);
    L4_Send(thread, s);
    expect_ipc(L4_KIP_IPC, thread.raw, 0, 0x110000, sent);
    L4_Reply(thread);
    expect_ipc(L4_KIP_IPC, thread.raw, 0, 0x04000000, sent);
    L4_Receive(thread);
    expect_ipc(L4_KIP_IPC, 0, thread.raw, 0, received);
    L4_Receive(thread, r);
    expect_ipc(L4_KIP_IPC, 0, thread.raw, 0x22, received);
    from = L4_nilthread;
    L4_Wait(from);
    expect_ipc(L4_KIP_IPC, 0, ~0u, 0, received);
    EXPECT(from.raw, other.raw);
    L4_Wait(r, from);
    expect_ipc(L4_KIP_IPC, 0, ~0u, 0x22, received);
    L4_ReplyWait(thread, from);
    expect_ipc(L4_KIP_IPC, thread.raw, ~0u, 0x04000000);
    L4_ReplyWait(thread, r, from);
    expect_ipc(L4_KIP_IPC, thread.raw, ~0u, 0x04000022);
    L4_Lcall(thread);
    expect_ipc(L4_KIP_LIPC, thread.raw, thread.raw, 0);
    L4_LreplyWait(thread, from);
    expect_ipc(L4_KIP_LIPC, thread.raw, 0xFFFFFFC0, 0x04000000);
    {
        fake::WithUtcb utcb;
        L4_Sleep(r);
    }
    expect_ipc(L4_KIP_IPC, 0, reinterpret_cast<L4_Word_t>(fake::utcb), 0x22, received);
    EXPECT(fake::utcb[0], 0x8000);
}

void calls_with_message_registers() // 4.2, 6.4
{
    const L4_Word_t utcb_address = reinterpret_cast<L4_Word_t>(fake::utcb);
    L4_Fpage_t f[3] = {{.raw = 0x1007}, {.raw = 0x2007}, {.raw = 0x3007}}, one;
    const L4_Word_t attributes[] = {10, 11, 12, 13};
    fake::answer = {.eax = 1, .esi = 0x1005};
    const auto under_utcb = [](auto call) {
        fake::WithUtcb utcb;
        return call();
    };
    one = under_utcb([&] { return L4_Unmap(f[0]); });
    expect_call(L4_KIP_UNMAP, {0, any, any, 0x1007, utcb_address, any, any});
    EXPECT(one.raw, 0x1005);
    EXPECT(L4_WasReferenced(one) && !L4_WasWritten(one) && L4_WaseXecuted(one), 1);
    one = under_utcb([&] { return L4_Flush(f[0]); });
    expect_call(L4_KIP_UNMAP, {64, any, any, 0x1007, utcb_address, any, any});
    one = under_utcb([&] { return L4_GetStatus(f[0]); });
    expect_call(L4_KIP_UNMAP, {0, any, any, 0x1000, utcb_address, any, any});
    under_utcb([&] { return L4_Unmap(3, f), 0; });
    expect_call(L4_KIP_UNMAP, {2, any, any, 0x1007, utcb_address, any, any});
    EXPECT(fake::utcb[1] == 0x2007 && fake::utcb[2] == 0x3007 && f[0].raw == 0x1005, 1);
    f[0].raw = 0x1007;
    under_utcb([&] { return L4_Flush(3, f), 0; });
    expect_call(L4_KIP_UNMAP, {64 + 2, any, any, 0x1007, utcb_address, any, any});
    EXPECT(under_utcb([&] { return L4_Set_PageAttribute({.raw = 0x1007}, L4_UncacheableMemory); }), 1);
    expect_call(L4_KIP_MEMORY_CONTROL, {0, L4_UncacheableMemory, any, 0x1000, utcb_address, any, any});
    EXPECT(under_utcb([&] { return L4_Set_PagesAttributes(2, f + 1, attributes); }), 1);
    expect_call(L4_KIP_MEMORY_CONTROL, {1, 10, 11, 0x2007, utcb_address, 12, 13});
}

void thread_control_registers() // 2.2, 3.6, A.1
{
    L4_Word_t *const u = fake::utcb;
    for (int i = -16; i < 0; i++) u[i] = 0x1000u - static_cast<L4_Word_t>(i);
    u[-10] = 0xFFE0; // coprocessor flags all set, preempt flags I, d, s
    L4_Word_t got[10];
    L4_Bool_t flags[6];
    {
        fake::WithUtcb utcb;
        got[0] = L4_MyLocalId().raw;
        got[1] = L4_MyGlobalId().raw;
        got[2] = static_cast<L4_Word_t>(L4_ProcessorNo());
        got[3] = L4_UserDefinedHandle();
        got[4] = L4_Pager().raw;
        got[5] = L4_ExceptionHandler().raw;
        got[6] = L4_ErrorCode();
        got[7] = L4_XferTimeouts();
        got[8] = L4_IntendedReceiver().raw;
        got[9] = L4_ActualSender().raw;
        flags[0] = L4_PreemptionPending();
        flags[1] = L4_PreemptionPending();
        flags[2] = L4_EnablePreemption();
        flags[3] = L4_DisablePreemption();
        flags[4] = L4_DisablePreemptionFaultException();
        flags[5] = L4_EnablePreemptionFaultException();
        L4_Clr_CopFlag(3);
        L4_Clr_CopFlag(0);
        L4_Set_CopFlag(3);
        L4_Set_UserDefinedHandle(1);
        L4_Set_Pager(thread);
        L4_Set_ExceptionHandler(other);
        L4_Set_XferTimeouts(2);
        L4_Set_VirtualSender(local);
    }
    const int offset[] = {0, -60, -56, -52, -48, -44, -36, -32, -28, -24}; // bytes, of A.1
    EXPECT(got[0], reinterpret_cast<L4_Word_t>(u));
    for (int i = 1; i < 10; i++) EXPECT(got[i], 0x1000u - static_cast<L4_Word_t>(offset[i] / 4));
    const bool expected[] = {true, false, true, false, true, false};
    for (int i = 0; i < 6; i++) EXPECT(flags[i] != 0, expected[i]);
    EXPECT(u[-10] & 0xFFFF, 0xFE60);
    EXPECT(u[-13] == 1 && u[-12] == thread.raw && u[-11] == other.raw && u[-8] == 2 && u[-6] == local.raw, 1);
}

} // namespace

void test_calls()
{
    exchange_registers();
    control_calls();
    scheduling();
    ipc();
    calls_with_message_registers();
    thread_control_registers();
}

int main()
{
    if (!fake::prepare()) {
        std::puts("this host gives no segment of its own to 32-bit programs");
        return 1;
    }
    test_values();
    test_messages();
    test_calls();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
