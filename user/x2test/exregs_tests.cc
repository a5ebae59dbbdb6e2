// SPDX-License-Identifier: BSD-2-Clause
// ExchangeRegisters (manual 2.3).
#include "harness.h"
#include "machine.h"

namespace x2test {
namespace {

/// All values that the call delivers.
struct Values {
    L4_ThreadId_t result;
    Word control, sp, ip, flags, handle;
    L4_ThreadId_t pager;
};

Values exchange(L4_ThreadId_t dest, Word control, Word sp = 0, Word ip = 0, Word flags = 0, Word handle = 0,
                L4_ThreadId_t pager = {})
{
    Values v = {};
    v.result = L4_ExchangeRegisters(dest, control, sp, ip, flags, handle, pager, &v.control, &v.sp, &v.ip, &v.flags,
                                    &v.handle, &v.pager);
    return v;
}

L4_ThreadId_t sigma0_id() { return L4_GlobalId(L4_ThreadIdUserBase(L4_GetKernelInterface()), 1); }

void refused(L4_ThreadId_t dest)
{
    const Values v = exchange(dest, 0x09E, 0x1000, 0x2000, 0, 0, main_id);
    CHECK_EQUAL(v.result.raw, 0);
    CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
}

void no_such_thread()
{
    refused(unused_id());
    refused(L4_nilthread);
    refused(L4_GlobalId(L4_ThreadNo(main_id), 2)); // wrong version
    refused(L4_anythread);
    refused(L4_ThreadId_t{.raw = (L4_MyLocalId().raw & ~0x1FFFFu) + 0x1F000 + L4_UtcbIdOffset});
}

void other_space()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    refused(a->id);
    refused(sigma0_id());
    CHECK_EQUAL(ask(a, do_nothing).value, 0);
}

void inactive_thread()
{
    const L4_ThreadId_t id = unused_id();
    CHECK(L4_ThreadControl(id, main_id, main_id, L4_nilthread, reinterpret_cast<void *>(-1)));
    refused(id);
    L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
}

void id_conversion()
{
    CHECK_EQUAL(exchange(main_id, 0).result.raw, L4_MyLocalId().raw);
    CHECK_EQUAL(exchange(L4_MyLocalId(), 0).result.raw, main_id.raw);
    Agent *a = agent(Kind::here);
    if (!a) return;
    CHECK_EQUAL(L4_LocalIdOf(a->id).raw, a->local.raw);
    CHECK_EQUAL(L4_GlobalIdOf(a->local).raw, a->id.raw);
    CHECK(L4_SameThreads(a->id, a->local) && !L4_SameThreads(a->id, main_id));
}

void handle_and_pager()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    CHECK_EQUAL(L4_PagerOf(a->id).raw, main_id.raw);
    L4_Set_UserDefinedHandleOf(a->id, 0xFEEDBEEF);
    CHECK_EQUAL(L4_UserDefinedHandleOf(a->local), 0xFEEDBEEF);
    const Values v = exchange(a->id, 0x0C0, 0, 0, 0, 0x12341234, L4_GlobalId(1000, 1));
    CHECK_EQUAL(v.handle, 0xFEEDBEEF); // old values are delivered
    CHECK_EQUAL(v.pager.raw, main_id.raw);
    CHECK_EQUAL(exchange(a->id, 0).handle, 0x12341234);
    L4_Set_PagerOf(a->id, main_id);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_UserDefinedHandle(); }).value, 0x12341234);
}

void reads_registers()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    ask(a, do_nothing); // now it waits for the next command
    const Values v = exchange(a->id, 0x200);
    CHECK(v.sp <= stack_of(a) && v.sp > stack_of(a) - page_size);
    CHECK(v.ip != 0);
    CHECK_EQUAL(v.control, 2); // it receives, is not halted
    CHECK_EQUAL(ask(a, do_nothing).value, 0);
}

constinit volatile Word counter = 0, reached = 0;
Word do_count(Word, Word, Word)
{
    for (;;) counter = counter + 1;
}
[[noreturn]] void landing()
{
    reached = reached + 1;
    for (;;) L4_Sleep(L4_Never);
}

void halt_and_resume()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, do_count);
    pause(5000);
    CHECK_EQUAL(L4_Stop(a->id).raw, 0);
    const Word stopped_at = counter;
    pause(5000);
    CHECK_EQUAL(counter, stopped_at);
    CHECK(L4_ThreadWasHalted(L4_Stop(a->id)));
    L4_Start(a->id);
    pause(5000);
    CHECK(counter != stopped_at);
}

/// Halted during an IPC, a thread finishes it and stops before its next instruction.
void halted_in_receive()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    ask(a, do_nothing);
    CHECK(L4_ThreadWasReceiving(L4_Stop(a->id)));
    begin(a, do_nothing); // is received
    CHECK(!finish(a, true).done); // but not executed
    L4_Start(a->id); // resume; aborts nothing, for nothing is under way
    CHECK(finish(a).done);
}

void new_place()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    reached = 0;
    begin(a, do_count);
    pause(3000);
    exchange(a->id, 0x018, stack_of(a), reinterpret_cast<Word>(landing));
    pause(3000);
    CHECK_EQUAL(reached, 1);
}

/// A thread that waits for its start message can be started by these words, as old programs do.
void start_waiting(Word control)
{
    Agent *a = create(main_id, Kind::here);
    if (!a) return;
    reached = 0;
    const Values v = exchange(a->id, control, stack_of(a), reinterpret_cast<Word>(landing), 0, 0, main_id);
    CHECK(v.result == a->local);
    pause(3000);
    CHECK_EQUAL(reached, 1);
    for (int i = 0; i < 20; i++) exchange(a->id, 0x09E, stack_of(a), reinterpret_cast<Word>(landing), 0, 0, main_id);
    pause(3000);
    CHECK(reached >= 2);
}
void start_11e() { start_waiting(0x11E); }
void start_19e() { start_waiting(0x19E); }
void start_09e() { start_waiting(0x09E); }

/// Only the arithmetic flags are the user's: no IOPL, no masked interrupts.
void flags_are_filtered()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, do_count);
    pause(3000);
    exchange(a->id, 0x020, 0, 0, machine::harmless_flags | machine::harmful_flags);
    const Word flags = exchange(a->id, 0).flags;
    CHECK_EQUAL(flags & machine::harmful_flags, 0);
    const Word before = counter;
    pause(5000);
    CHECK(counter != before);
}

void on_oneself()
{
    const Values v = exchange(L4_MyLocalId(), 0x040, 0, 0, 0, 0x77);
    CHECK_EQUAL(v.result.raw, main_id.raw);
    CHECK_EQUAL(L4_UserDefinedHandle(), 0x77);
}

/// Each flag takes over its own word and no other; without flags nothing changes, H included.
void each_flag_alone()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, do_count);
    pause(3000);
    CHECK_EQUAL(exchange(a->id, L4_EXREGS_HALT).control, 0); // H without h
    CHECK_EQUAL(exchange(a->id, 0).control, 0);
    L4_Stop(a->id);
    const Values old = exchange(a->id, 0);
    CHECK_EQUAL(old.control, L4_EXREGS_HALT);
    const Values other = {L4_nilthread, 0,          old.sp - 64, old.ip + 4, old.flags ^ machine::harmless_flags,
                          0x12344321,   sigma0_id()};
    constexpr Word flags[] = {0, L4_EXREGS_SP, L4_EXREGS_IP, L4_EXREGS_FLAGS, L4_EXREGS_HANDLE, L4_EXREGS_PAGER};
    for (const Word flag : flags) {
        exchange(a->id, flag, other.sp, other.ip, other.flags, other.handle, other.pager);
        const Values now = exchange(a->id, 0);
        CHECK_EQUAL(now.sp, flag == L4_EXREGS_SP ? other.sp : old.sp);
        CHECK_EQUAL(now.ip, flag == L4_EXREGS_IP ? other.ip : old.ip);
        CHECK_EQUAL(now.flags, flag == L4_EXREGS_FLAGS ? other.flags : old.flags);
        CHECK_EQUAL(now.handle, flag == L4_EXREGS_HANDLE ? other.handle : old.handle);
        CHECK_EQUAL(now.pager.raw, flag == L4_EXREGS_PAGER ? other.pager.raw : old.pager.raw);
        CHECK_EQUAL(now.control, L4_EXREGS_HALT);
        exchange(a->id, 0x0F8, old.sp, old.ip, old.flags, old.handle, old.pager);
    }
    const Word before = counter;
    L4_Start(a->id);
    pause(5000);
    CHECK(counter != before); // it goes on as if nothing had been
}

Word do_send_to(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_Niltag);
    return L4_Send(L4_ThreadId_t{.raw = to}).raw;
}
/// The old state is reported whatever is asked for, and asking for nothing changes it not.
void reports_the_state()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    ask(a, do_nothing);
    for (int i = 0; i < 2; i++) CHECK_EQUAL(exchange(a->id, 0).control, L4_EXREGS_RECV);
    CHECK_EQUAL(exchange(a->id, 0x100).control, L4_EXREGS_RECV); // resumed, though it was not halted
    CHECK_EQUAL(exchange(a->id, L4_EXREGS_SEND).control, L4_EXREGS_RECV); // not the phase that is under way
    CHECK_EQUAL(exchange(a->id, 0x101).control, L4_EXREGS_RECV);
    CHECK_EQUAL(exchange(a->id, 0x100).control, L4_EXREGS_RECV | L4_EXREGS_HALT);
    begin(a, do_send_to, main_id.raw);
    pause(3000);
    CHECK_EQUAL(exchange(a->id, L4_EXREGS_RECV).control, L4_EXREGS_SEND);
    CHECK_EQUAL(exchange(a->id, 0).control, L4_EXREGS_SEND);
    CHECK(L4_IpcSucceeded(L4_Receive_Timeout(a->id, second)));
    finish(a);
    CHECK_EQUAL(exchange(main_id, 0).control, 0); // oneself runs
}

/// SP and IP that are set during an IPC count when it ends.
void new_place_waits_for_the_ipc()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    ask(a, do_nothing);
    reached = 0;
    exchange(a->id, 0x018, stack_of(a), reinterpret_cast<Word>(landing));
    pause(3000);
    CHECK_EQUAL(reached, 0);
    CHECK_EQUAL(exchange(a->id, 0).control, L4_EXREGS_RECV);
    begin(a, do_nothing); // is received
    pause(3000);
    CHECK_EQUAL(reached, 1);
}

Word do_hear_fault(Word from, Word, Word)
{
    const Word tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second).raw;
    Word address;
    L4_StoreMR(1, &address);
    return (tag >> 20) == 0xFFE ? address : 0;
}
/// A new pager and a new handle count at once, also for a thread that waits in the kernel.
void pager_and_handle_at_once()
{
    Agent *a = agent(Kind::here), *pager = agent(Kind::here);
    if (!a || !pager) return;
    ask(a, do_nothing);
    begin(pager, do_hear_fault, a->id.raw);
    exchange(a->id, 0x0C0, 0, 0, 0, 0x4711, pager->id);
    CHECK_EQUAL(exchange(a->id, 0).pager.raw, pager->id.raw);
    CHECK_EQUAL(exchange(a->id, 0).handle, 0x4711);
    begin(a, do_read, 0xB0000000);
    CHECK_EQUAL(finish(pager).value, 0xB0000000);
}

} // namespace

const Test exregs_tests[] = {
    {"exregs.no_such_thread", no_such_thread},
    {"exregs.other_space", other_space},
    {"exregs.inactive_thread", inactive_thread},
    {"exregs.id_conversion", id_conversion},
    {"exregs.handle_and_pager", handle_and_pager},
    {"exregs.reads_registers", reads_registers},
    {"exregs.halt_and_resume", halt_and_resume},
    {"exregs.halted_in_receive", halted_in_receive},
    {"exregs.new_place", new_place},
    {"exregs.start_11e", start_11e},
    {"exregs.start_19e", start_19e},
    {"exregs.start_09e", start_09e},
    {"exregs.flags_are_filtered", flags_are_filtered},
    {"exregs.on_oneself", on_oneself},
    {"exregs.each_flag_alone", each_flag_alone},
    {"exregs.reports_the_state", reports_the_state},
    {"exregs.new_place_waits_for_the_ipc", new_place_waits_for_the_ipc},
    {"exregs.pager_and_handle_at_once", pager_and_handle_at_once},
    {nullptr, nullptr},
};

} // namespace x2test
