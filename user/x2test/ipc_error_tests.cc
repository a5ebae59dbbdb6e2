// SPDX-License-Identifier: BSD-2-Clause
// What goes wrong with an IPC: timeouts, partners that are not there, cancellation, messages that do not fit.
// The expected words are ErrorCode: phase (bit 0) | code << 1 | offset << 4.
#include "harness.h"

namespace x2test {
namespace {

/// Fails unless the IPC ended with this ErrorCode.
#define CHECK_IPC_ERROR(tag, code)                                                                                     \
    do {                                                                                                               \
        CHECK(L4_IpcFailed(tag));                                                                                      \
        CHECK_EQUAL(L4_ErrorCode(), code);                                                                             \
    } while (0)

/// A thread that runs and neither sends nor receives with us.
Word do_sleep_long(Word, Word, Word)
{
    pause(900000);
    return 0;
}

void send_timeout_zero()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_sleep_long);
    CHECK_IPC_ERROR(L4_Send_Timeout(a->id, L4_ZeroTime), 2);
}

constinit L4_ThreadId_t sleeper = {};
void send_timeout_finite()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_sleep_long);
    sleeper = a->id;
    check_duration([] { CHECK_IPC_ERROR(L4_Send_Timeout(sleeper, short_time), 2); }, 18000, 30000);
}

void receive_timeout_zero() { CHECK_IPC_ERROR(L4_Receive_Timeout(L4_anythread, L4_ZeroTime), 3); }

void receive_timeout_finite()
{
    check_duration([] {
        L4_ThreadId_t from;
        CHECK_IPC_ERROR(L4_Wait_Timeout(short_time, &from), 3);
    }, 18000, 30000);
}

/// A point in time instead of a period.
void receive_timeout_point()
{
    check_duration([] {
        const L4_Clock_t before = L4_SystemClock();
        CHECK_IPC_ERROR(L4_Receive_Timeout(main_id, L4_TimePointAt(before, before + 20000)), 3);
    }, 18000, 30000);
    // One that has just passed ends the wait at once.
    const L4_Clock_t now = L4_SystemClock();
    const L4_Time_t past = L4_TimePointAt(now, now + 2000);
    while (L4_SystemClock().raw < now.raw + 4000) {}
    CHECK_IPC_ERROR(L4_Receive_Timeout(main_id, past), 3);
}

/// The receive timeout of a call counts from the end of its send phase.
void call_receive_timeout()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 4});
    L4_LoadMR(1, reinterpret_cast<Word>(do_sleep_long));
    CHECK_IPC_ERROR(L4_Call_Timeouts(a->id, second, short_time), 3);
}

void sleep_lasts()
{
    check_duration([] { pause(50000); }, 48000, 70000);
}

void send_to_self()
{
    L4_Set_MsgTag(L4_Niltag);
    CHECK_IPC_ERROR(L4_Send_Timeout(main_id, L4_ZeroTime), 2);
    CHECK_IPC_ERROR(L4_Send_Timeout(L4_MyLocalId(), short_time), 2);
}

void send_to_nobody()
{
    CHECK_IPC_ERROR(L4_Send_Timeout(unused_id(), second), 4);
    CHECK_IPC_ERROR(L4_Send_Timeout(L4_GlobalId(L4_ThreadNo(main_id), 2), second), 4); // wrong version
    CHECK_IPC_ERROR(L4_Send_Timeout(L4_GlobalId(0x3FFFF, 1), second), 4);
    CHECK_IPC_ERROR(L4_Send_Timeout(L4_anythread, second), 4);
    CHECK_IPC_ERROR(L4_Send_Timeout(L4_anylocalthread, second), 4);
}

void send_to_inactive()
{
    const L4_ThreadId_t id = unused_id();
    CHECK(L4_ThreadControl(id, main_id, main_id, L4_nilthread, reinterpret_cast<void *>(-1)));
    const L4_MsgTag_t tag = L4_Send_Timeout(id, short_time);
    const Word error = L4_ErrorCode();
    L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
    CHECK(L4_IpcFailed(tag));
    CHECK_EQUAL(error, 4);
}

void send_to_bogus_local()
{
    const Word area = L4_MyLocalId().raw & ~0x1FFFFu;
    CHECK_IPC_ERROR(L4_Send_Timeout(L4_ThreadId_t{.raw = area + 0x1F000 + L4_UtcbIdOffset}, second), 4);
    CHECK_IPC_ERROR(L4_Send_Timeout(L4_ThreadId_t{.raw = 0x00300000}, second), 4);
    CHECK_IPC_ERROR(L4_Send_Timeout(L4_ThreadId_t{.raw = 0xF0100000}, second), 4);
}

void receive_from_nobody()
{
    CHECK_IPC_ERROR(L4_Receive_Timeout(unused_id(), second), 5);
    CHECK_IPC_ERROR(L4_Receive_Timeout(L4_GlobalId(L4_ThreadNo(main_id), 2), second), 5);
}

/// An error in the send phase ends the call.
void failed_send_skips_receive()
{
    const L4_Clock_t before = L4_SystemClock();
    CHECK_IPC_ERROR(L4_Ipc(unused_id(), L4_anythread, L4_Timeouts(second, second), nullptr), 4);
    CHECK(L4_SystemClock().raw - before.raw < 100000);
}

void send_to_deleted()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    const L4_ThreadId_t id = a->id;
    remove(a);
    CHECK_IPC_ERROR(L4_Send_Timeout(id, second), 4);
    CHECK_IPC_ERROR(L4_Receive_Timeout(id, second), 5);
}

Word do_send_for_ever(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_Niltag);
    return L4_IpcFailed(L4_Send(L4_ThreadId_t{.raw = to})) ? L4_ErrorCode() : 0;
}
Word do_receive_for_ever(Word from, Word, Word)
{
    return L4_IpcFailed(L4_Receive(L4_ThreadId_t{.raw = from})) ? L4_ErrorCode() : 0;
}
Word do_call_for_ever(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_Niltag);
    return L4_IpcFailed(L4_Call(L4_ThreadId_t{.raw = to})) ? L4_ErrorCode() : 0;
}
/// Takes a message, if one comes, and never answers.
Word do_take_one(Word, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    return do_sleep_long(0, 0, 0);
}

/// No thread can end the wait any more: the same error as if it began now. Also behind a call on the fast path.
void partner_deleted(Function wait)
{
    Agent *partner = agent(Kind::other), *waiting = agent(Kind::other);
    if (!partner || !waiting) return;
    begin(partner, do_take_one);
    begin(waiting, wait, partner->id.raw);
    pause(5000);
    remove(partner);
    CHECK_EQUAL(finish(waiting).value, 5);
}
void receive_from_deleted_meanwhile() { partner_deleted(do_receive_for_ever); }
void call_to_deleted_meanwhile() { partner_deleted(do_call_for_ever); }

/// The old id names no thread then.
void receive_from_renamed_meanwhile()
{
    Agent *partner = agent(Kind::other), *waiting = agent(Kind::other);
    if (!partner || !waiting) return;
    begin(partner, do_sleep_long);
    begin(waiting, do_receive_for_ever, partner->id.raw);
    pause(5000);
    const L4_ThreadId_t renamed = L4_GlobalId(L4_ThreadNo(partner->id), L4_Version(partner->id) + 1);
    const L4_ThreadId_t old = partner->id;
    CHECK(L4_ThreadControl(renamed, old, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    partner->id = renamed;
    CHECK_EQUAL(finish(waiting).value, 5);
}

/// What is open to others stays so.
void open_wait_outlives_the_deleted()
{
    Agent *gone = agent(Kind::other), *waiting = agent(Kind::here);
    if (!gone || !waiting) return;
    begin(waiting, do_receive_for_ever, L4_anythread.raw);
    pause(5000);
    remove(gone);
    CHECK_EQUAL(L4_Schedule(waiting->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
    L4_Set_MsgTag(L4_Niltag);
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(waiting->id, second)));
    CHECK_EQUAL(finish(waiting).value, 0);
}

void cancelled(Function f, Word control, Word busy_bit, Word error)
{
    Agent *victim = agent(Kind::here), *third = agent(Kind::here);
    if (!victim || !third) return;
    begin(third, do_sleep_long);
    begin(victim, f, third->id.raw);
    pause(5000);
    const Word seen = __L4_Exregs(victim->id, control, 0, 0, 0);
    CHECK_EQUAL(seen, busy_bit);
    CHECK_EQUAL(finish(victim).value, error);
}
void send_cancelled() { cancelled(do_send_for_ever, L4_EXREGS_SEND, 4, 6); }
void receive_cancelled() { cancelled(do_receive_for_ever, L4_EXREGS_RECV, 2, 7); }
void both_cancelled() { cancelled(do_receive_for_ever, L4_EXREGS_RECV | L4_EXREGS_SEND, 2, 7); }

/// A phase that is not under way is not cancelled.
void other_phase_goes_on()
{
    Agent *victim = agent(Kind::here);
    if (!victim) return;
    begin(victim, do_receive_for_ever, main_id.raw);
    pause(5000);
    __L4_Exregs(victim->id, L4_EXREGS_SEND, 0, 0, 0);
    L4_Set_MsgTag(L4_Niltag);
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(victim->id, second)));
    CHECK_EQUAL(finish(victim).value, 0);
}

Word do_send_words(Word tag, Word mr1, Word mr2)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = tag});
    L4_LoadMR(1, mr1);
    L4_LoadMR(2, mr2);
    return L4_IpcFailed(L4_Send_Timeout(main_id, second)) ? L4_ErrorCode() : 0;
}

/// Message overflow is told to both sides.
void overflow(Word tag, Word mr1, Word mr2)
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_send_words, tag, mr1, mr2);
    const L4_MsgTag_t received = L4_Receive_Timeout(a->id, second);
    CHECK_IPC_ERROR(received, 9);
    CHECK_EQUAL(finish(a).value, 8);
}
void overflow_string() { overflow(2u << 6, 100u << 10, reinterpret_cast<Word>(arena)); }
void overflow_map_without_window() { overflow(2u << 6, 0x8, page_at(arena_page(0), 7).raw); }

/// 62 words and an item of two: its second half would be MR64. What lies there is harmless if it is taken for an item.
Word do_send_65_words(Word, Word, Word)
{
    for (int i = 1; i < 63; i++) L4_LoadMR(i, static_cast<Word>(i));
    L4_LoadMR(63, 0x8);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6 | 62});
    return L4_IpcFailed(L4_Send_Timeout(main_id, second)) ? L4_ErrorCode() : 0;
}
void overflow_too_many_words()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    begin(a, do_send_65_words);
    const L4_MsgTag_t received = L4_Receive_Timeout(a->id, second);
    const Word error = L4_ErrorCode();
    L4_Accept(L4_UntypedWordsAcceptor);
    CHECK(L4_IpcFailed(received));
    CHECK_EQUAL(error, 9);
    CHECK_EQUAL(finish(a).value, 8);
}
void overflow_unknown_item() { overflow(2u << 6, 0xE, 0); }
void overflow_cut_item() { overflow(1u << 6, 0x8, 0); }

/// What came before the item that did not fit is there.
void overflow_keeps_words()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_send_words, 0x00990000 | 2u << 6 | 1, 0x12345678, 0x8);
    const L4_MsgTag_t received = L4_Receive_Timeout(a->id, second);
    Word word;
    L4_StoreMR(1, &word);
    CHECK_IPC_ERROR(received, 9);
    CHECK_EQUAL(L4_Label(received), 0x99);
    CHECK_EQUAL(word, 0x12345678);
}

} // namespace

const Test ipc_error_tests[] = {
    {"ipc.send_timeout_zero", send_timeout_zero},
    {"ipc.send_timeout_finite", send_timeout_finite},
    {"ipc.receive_timeout_zero", receive_timeout_zero},
    {"ipc.receive_timeout_finite", receive_timeout_finite},
    {"ipc.receive_timeout_point", receive_timeout_point},
    {"ipc.call_receive_timeout", call_receive_timeout},
    {"ipc.sleep_lasts", sleep_lasts},
    {"ipc.send_to_self", send_to_self},
    {"ipc.send_to_nobody", send_to_nobody},
    {"ipc.send_to_inactive", send_to_inactive},
    {"ipc.send_to_bogus_local", send_to_bogus_local},
    {"ipc.send_to_deleted", send_to_deleted},
    {"ipc.receive_from_nobody", receive_from_nobody},
    {"ipc.receive_from_deleted_meanwhile", receive_from_deleted_meanwhile},
    {"ipc.call_to_deleted_meanwhile", call_to_deleted_meanwhile},
    {"ipc.receive_from_renamed_meanwhile", receive_from_renamed_meanwhile},
    {"ipc.open_wait_outlives_the_deleted", open_wait_outlives_the_deleted},
    {"ipc.failed_send_skips_receive", failed_send_skips_receive},
    {"ipc.send_cancelled", send_cancelled},
    {"ipc.receive_cancelled", receive_cancelled},
    {"ipc.both_cancelled", both_cancelled},
    {"ipc.other_phase_goes_on", other_phase_goes_on},
    {"ipc.overflow_string", overflow_string},
    {"ipc.overflow_map_without_window", overflow_map_without_window},
    {"ipc.overflow_too_many_words", overflow_too_many_words},
    {"ipc.overflow_unknown_item", overflow_unknown_item},
    {"ipc.overflow_cut_item", overflow_cut_item},
    {"ipc.overflow_keeps_words", overflow_keeps_words},
    {nullptr, nullptr},
};

} // namespace x2test
