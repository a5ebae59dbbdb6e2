// SPDX-License-Identifier: BSD-2-Clause
// Page-fault and thread-start protocols (manual 7.1, 7.3).
#include "harness.h"
#include "machine.h"

#include <l4/sigma0.h>

namespace x2test {

namespace {

void read_message()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    const Outcome &out = ask(a, x2test_read_at, free_area + 0x1234);
    CHECK_EQUAL(out.faults, 1);
    CHECK_EQUAL(out.fault_tag & 0xFFF0FFFF, 0xFFE00002);
    CHECK(out.fault_tag & 0x00040000); // read; Pistachio says 5, the manual 4
    CHECK(!out.write_fault());
    CHECK_EQUAL(out.fault_address, free_area + 0x1234);
    CHECK_EQUAL(out.fault_ip, reinterpret_cast<Word>(x2test_read_ip));
}

void write_message()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    const Outcome &out = ask(a, x2test_write_at, free_area + 0x2FFC, 7);
    CHECK_EQUAL(out.faults, 1);
    CHECK_EQUAL(out.fault_tag & 0xFFF2FFFF, 0xFFE20002);
    CHECK_EQUAL(out.fault_address, free_area + 0x2FFC);
    CHECK_EQUAL(out.fault_ip, reinterpret_cast<Word>(x2test_write_ip));
}

/// A call to an unmapped page: address and IP agree.
void execute_message()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    arena_word(0) = machine::return_instruction;
    begin(a, reinterpret_cast<Function>(free_area));
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw & 0xFFF0FFFF, 0xFFE00002);
    Word mr[3];
    L4_StoreMRs(0, 3, mr);
    CHECK_EQUAL(mr[1], free_area);
    CHECK_EQUAL(mr[2], free_area);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, free_area | 8);
    L4_LoadMR(2, page_at(arena_page(0), L4_FullyAccessible).raw);
    CHECK(L4_IpcSucceeded(L4_Reply(from)));
    CHECK(finish(a).done);
}

/// An access to the kernel's addresses is a fault like any other, or where segment limits stand before it, a
/// protection exception. Nothing can be mapped there.
void kernel_address()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    begin(a, x2test_read_at, machine::kernel_address);
    L4_ThreadId_t from;
    const L4_MsgTag_t tag = L4_Wait_Timeout(second, &from);
    Word mr[5];
    L4_StoreMRs(0, 5, mr);
    if (tag.raw == 0xFFB0000C) {
        CHECK_EQUAL(mr[3], 13);
        return;
    }
    CHECK_EQUAL(tag.raw & 0xFFF0FFFF, 0xFFE00002);
    CHECK_EQUAL(mr[1], machine::kernel_address);
}

/// An answer without a mapping restarts the instruction: the same fault comes again.
void empty_reply_restarts()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_read_at, free_area);
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait_Timeout(second, &from);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(tag.raw & 0xFFF0FFFF, 0xFFE00002);
        Word address;
        L4_StoreMR(1, &address);
        CHECK_EQUAL(address, free_area);
        L4_Set_MsgTag(L4_Niltag);
        tag = L4_ReplyWait_Timeout(from, second, &from);
    }
    CHECK(L4_IpcSucceeded(tag));
}

/// An answer that cannot be received whole, here with an item of no type, does not restart it: its sender is told, and
/// the thread waits for a better one.
void bad_reply_is_not_taken()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_read_at, free_area);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw & 0xFFF0FFFF, 0xFFE00002);
    for (int i = 0; i < 2; i++) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
        L4_LoadMR(1, 0xE);
        L4_LoadMR(2, 0);
        CHECK(L4_IpcFailed(L4_Send_Timeout(from, L4_ZeroTime)));
        CHECK_EQUAL(L4_ErrorCode(), 8);
        CHECK(L4_IpcFailed(L4_Receive_Timeout(from, short_time)));
    }
    L4_Set_MsgTag(L4_Niltag);
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(from, L4_ZeroTime)));
    CHECK_EQUAL(finish(a).faults, 1);
}

constinit L4_ThreadId_t silent_pager = {};
Word do_take_one_fault(Word, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    L4_Sleep(L4_Never);
    return 0;
}
Word do_read_by_silent_pager(Word address, Word, Word)
{
    L4_Set_Pager(silent_pager);
    return x2test_read_at(address, 0, 0);
}
/// A thread whose pager is deleted before it answers is halted, as one without a pager. Set going, it tries again.
void pager_deleted_meanwhile()
{
    constexpr Word place = 0x69000000; // in main's own space, where main can map only by way of sigma0
    Agent *pager = agent(Kind::here), *a = agent(Kind::here);
    if (!pager || !a) return;
    silent_pager = pager->id;
    begin(pager, do_take_one_fault);
    begin(a, do_read_by_silent_pager, place);
    pause(5000);
    remove(pager);
    CHECK_EQUAL(L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_INACTIVE);
    CHECK(!L4_IsNilFpage(L4_Sigma0_GetAny(L4_nilthread, 12, L4_FpageLog2(place, 12))));
    CHECK_EQUAL(__L4_Exregs(a->id, L4_EXREGS_SETHALT, 0, 0, 0), L4_EXREGS_HALT);
    CHECK_EQUAL(finish(a).faults, 0);
}

/// A pager may be named by its local id.
void pager_by_local_id()
{
    constexpr Word place = 0x69100000; // in main's own space, where nothing is
    Agent *pager = agent(Kind::here), *a = agent(Kind::here);
    if (!pager || !a) return;
    silent_pager = pager->local;
    begin(pager, [](Word, Word, Word) {
        L4_ThreadId_t from;
        L4_Wait(&from);
        return from.raw;
    });
    begin(a, do_read_by_silent_pager, place);
    CHECK_EQUAL(finish(pager).value, a->local.raw);
}

/// The registers that the protocol uses come back as they were (manual 7.3; UTCB words too).
Word do_fault_with_full_utcb(Word address, Word, Word)
{
    for (int i = 0; i < 64; i++) L4_LoadMR(i, 0xAB000000u + static_cast<Word>(i));
    for (int i = 0; i < 33; i++) L4_LoadBR(i, 0xBC000000u + static_cast<Word>(i) * 16);
    L4_Set_VirtualSender(L4_ThreadId_t{.raw = 0x1234567});
    (void)*reinterpret_cast<volatile Word *>(address);
    Word wrong = 0, w;
    for (int i = 1; i < 64; i++) {
        L4_StoreMR(i, &w);
        if (w != 0xAB000000u + static_cast<Word>(i)) wrong |= 0x100u + static_cast<Word>(i);
    }
    for (int i = 0; i < 33; i++) {
        L4_StoreBR(i, &w);
        if (w != 0xBC000000u + static_cast<Word>(i) * 16) wrong |= 0x200u + static_cast<Word>(i);
    }
    if (L4_ActualSender().raw != 0x1234567) wrong |= 0x400;
    return wrong;
}
void utcb_unchanged()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    const Outcome &out = ask(a, do_fault_with_full_utcb, free_area);
    CHECK_EQUAL(out.faults, 1);
    CHECK_EQUAL(out.value, 0);
}

/// The same when the fault is cancelled before its pager answers: no thread is told, the instruction is tried again.
void cancelled_fault_restarts()
{
    constexpr Word place = 0x68000000; // in main's own space, where main can map only by way of sigma0
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, do_fault_with_full_utcb, place);
    pause(5000);
    CHECK(!L4_IsNilFpage(L4_Sigma0_GetAny(L4_nilthread, 12, L4_FpageLog2(place, 12))));
    CHECK_EQUAL(__L4_Exregs(a->id, L4_EXREGS_SEND | L4_EXREGS_RECV, 0, 0, 0), 4);
    const Outcome &out = finish(a);
    CHECK_EQUAL(out.faults, 0);
    CHECK_EQUAL(out.value, 0);
}

/// Cancelling a fault that its pager does not answer; the thread goes where it is sent.
constinit volatile Word reached = 0;
[[noreturn]] void landing()
{
    reached = 1;
    for (;;) L4_Sleep(L4_Never);
}
void cancelled_fault()
{
    Agent *space = agent(Kind::here);
    if (!space) return;
    reached = 0;
    begin(space, x2test_read_at, 0xB0000000); // in main's own space: main is the pager and does not answer
    pause(5000);
    CHECK_EQUAL(reached, 0);
    L4_Start(space->id, stack_of(space), reinterpret_cast<Word>(landing)); // control word 0x11E
    pause(5000);
    CHECK_EQUAL(reached, 1);
}

// ------------------------------------------------------------------------------------------------ thread start
bool send_start(L4_ThreadId_t to, Word ip, Word sp)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, ip);
    L4_LoadMR(2, sp);
    return L4_IpcSucceeded(L4_Send_Timeout(to, short_time));
}

void start_message()
{
    Agent *a = create(main_id, Kind::here);
    if (!a) return;
    reached = 0;
    const Word sp = stack_of(a) - 16;
    machine::forget_start();
    CHECK_EQUAL(L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
    CHECK(send_start(a->id, reinterpret_cast<Word>(x2test_started), sp));
    for (int i = 0; i < 50 && !reached; i++) pause(1000);
    CHECK_EQUAL(machine::started_sp(), sp);
    CHECK(machine::started_clean());
}

Word do_send_start(Word to, Word, Word)
{
    return send_start(L4_ThreadId_t{.raw = to}, reinterpret_cast<Word>(landing), 0) ? 0 : L4_ErrorCode();
}
void start_only_from_pager()
{
    Agent *stranger = agent(Kind::here), *a = create(main_id, Kind::here);
    if (!stranger || !a) return;
    CHECK_EQUAL(ask(stranger, do_send_start, a->id.raw).value, 2);
}

/// The waiting thread accepts no mappings.
void start_refuses_items()
{
    Agent *a = create(main_id, Kind::here);
    if (!a) return;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, 8);
    L4_LoadMR(2, page_at(arena_page(0), 7).raw);
    CHECK(L4_IpcFailed(L4_Send_Timeout(a->id, short_time)));
    CHECK_EQUAL(L4_ErrorCode(), 8);
}

} // namespace

extern "C" [[noreturn]] void x2test_landing() { landing(); }

const Test fault_tests[] = {
    {"fault.read_message", read_message},
    {"fault.write_message", write_message},
    {"fault.execute_message", execute_message},
    {"fault.kernel_address", kernel_address},
    {"fault.empty_reply_restarts", empty_reply_restarts},
    {"fault.bad_reply_is_not_taken", bad_reply_is_not_taken},
    {"fault.pager_deleted_meanwhile", pager_deleted_meanwhile},
    {"fault.pager_by_local_id", pager_by_local_id},
    {"fault.utcb_unchanged", utcb_unchanged},
    {"fault.cancelled_restarts", cancelled_fault_restarts},
    {"fault.cancelled_goes_elsewhere", cancelled_fault},
    {"start.message", start_message},
    {"start.only_from_pager", start_only_from_pager},
    {"start.refuses_items", start_refuses_items},
    {nullptr, nullptr},
};

} // namespace x2test
