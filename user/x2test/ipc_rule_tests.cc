// SPDX-License-Identifier: BSD-2-Clause
// Which threads may send in others' names, which times timeouts can be, which ids mean what (manual 2.1, 3.3, 5.6).
#include "harness.h"

namespace x2test {
namespace {

Word do_send(Word to, Word label, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16});
    return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second).raw;
}
Word do_call(Word to, Word label, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16});
    return L4_Call_Timeouts(L4_ThreadId_t{.raw = to}, second, second).raw;
}
Word do_propagate(Word to, Word virtual_sender, Word)
{
    L4_Set_VirtualSender(L4_ThreadId_t{.raw = virtual_sender});
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x00771000});
    return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second).raw;
}
Word do_sleep(Word, Word, Word)
{
    L4_Sleep(L4_Never);
    return 0;
}

/// Sender and receiver of one space may use any thread's name.
void propagated_within_a_space()
{
    Agent *real = agent(Kind::here), *pretended = agent(Kind::other);
    if (!real || !pretended) return;
    begin(real, do_propagate, main_id.raw, pretended->id.raw);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw, 0x00771000);
    CHECK_EQUAL(from.raw, pretended->id.raw);
    CHECK(L4_SameThreads(L4_ActualSender(), real->id));
}

/// A name that no thread has does not count: the message comes from its sender.
void propagated_for_nobody()
{
    Agent *real = agent(Kind::here);
    if (!real) return;
    begin(real, do_propagate, main_id.raw, unused_id().raw);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw, 0x00770000);
    CHECK(L4_SameThreads(from, real->id));
}

/// Takes a call from `client` and passes it on in its name.
Word do_forward(Word client, Word to, Word)
{
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = client}, second);
    if (L4_IpcFailed(tag)) return ~0u;
    return do_propagate(to, client, 0);
}
/// A thread that waits for the propagator's answer waits for the new receiver's from then on.
void propagation_moves_the_wait()
{
    Agent *server = agent(Kind::other);
    Agent *client = server ? agent_beside(server) : nullptr;
    if (!client) return;
    begin(server, do_forward, client->id.raw, main_id.raw);
    begin(client, do_call, server->id.raw, 0x11);
    L4_ThreadId_t from;
    const L4_MsgTag_t tag = L4_Ipc(L4_nilthread, client->id, L4_Timeouts(L4_Never, second), &from);
    CHECK_EQUAL(tag.raw, 0x00771000);
    CHECK_EQUAL(L4_ActualSender().raw, server->id.raw);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x99u << 16});
    CHECK(L4_IpcSucceeded(L4_Reply(client->id)));
    CHECK_EQUAL(finish(client).value, 0x99u << 16);
    CHECK_EQUAL(finish(server).value, 0);
}

/// A sender queued there in the new receiver's name is taken, too.
void a_moved_wait_takes_what_is_queued()
{
    Agent *server = agent(Kind::other);
    Agent *client = server ? agent_beside(server) : nullptr;
    Agent *queued = client ? agent(Kind::here) : nullptr;
    if (!queued) return;
    begin(server, do_forward, client->id.raw, main_id.raw);
    begin(client, do_call, server->id.raw, 0x11);
    begin(queued, do_propagate, client->id.raw, main_id.raw);
    pause(10000);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Ipc(L4_nilthread, client->id, L4_Timeouts(L4_Never, second), &from).raw, 0x00771000);
    CHECK_EQUAL(finish(queued).value, 0);
    CHECK_EQUAL(finish(client).value, 0x00771000);
    CHECK_EQUAL(finish(server).value, 0);
}

/// Without the p bit VirtualSender is not looked at.
void virtual_sender_without_p()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, [](Word to, Word, Word) {
        L4_Set_VirtualSender(L4_anythread);
        return do_send(to, 0x12, 0);
    }, main_id.raw);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw, 0x12u << 16);
    CHECK_EQUAL(from.raw, a->local.raw);
}

/// A message that waits already is received without waiting.
void zero_timeout_takes_what_waits()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    begin(a, do_send, main_id.raw, 0x21);
    begin(b, do_send, main_id.raw, 0x22);
    pause(3000);
    CHECK_EQUAL(L4_Label(L4_Receive_Timeout(b->id, L4_ZeroTime)), 0x22);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Label(L4_Wait_Timeout(L4_ZeroTime, &from)), 0x21);
}

/// A receiver that waits gets what is sent without waiting.
void zero_timeout_reaches_who_waits()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, [](Word from, Word, Word) { return L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second).raw; },
          main_id.raw);
    pause(3000);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x31u << 16});
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, L4_ZeroTime)));
    CHECK_EQUAL(finish(a).value, 0x31u << 16);
}

constinit L4_ThreadId_t nobody_listens = {};
void wait_to_send(L4_Time_t timeout)
{
    L4_Set_MsgTag(L4_Niltag);
    CHECK(L4_IpcFailed(L4_Send_Timeout(nobody_listens, timeout)));
    CHECK_EQUAL(L4_ErrorCode(), 2);
}
/// A send timeout can be a point in time, too.
void send_timeout_point()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_sleep);
    nobody_listens = a->id;
    check_duration([] { wait_to_send(L4_TimePoint(L4_SystemClock() + 20000)); }, 18000, 30000);
}

/// 20,480 us in three encodings, two of them with leading zeros.
void unnormalised_times()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_sleep);
    nobody_listens = a->id;
    check_duration([] { wait_to_send(L4_Time_t{.raw = 5 << 10 | 640}); }, 20000, 30000);
    check_duration([] { wait_to_send(L4_Time_t{.raw = 11 << 10 | 10}); }, 20000, 30000);
    check_duration([] { wait_to_send(L4_Time_t{.raw = 12 << 10 | 5}); }, 20000, 30000);
    check_duration([] { L4_Sleep(L4_Time_t{.raw = 11 << 10 | 10}); }, 20000, 30000);
    // zero microseconds by another exponent than that of the name
    check_duration([] { wait_to_send(L4_Time_t{.raw = 7 << 10}); }, 0, 5000);
}

/// The timeout of a phase that does not take place is not looked at.
void timeouts_without_phase()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_send, main_id.raw, 0x41);
    pause(3000);
    CHECK_EQUAL(L4_Label(L4_Ipc(L4_nilthread, a->id, L4_Timeouts(L4_ZeroTime, second), nullptr)), 0x41);
    finish(a);
    begin(a, [](Word from, Word, Word) { return L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second).raw; },
          main_id.raw);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x42u << 16});
    CHECK(L4_IpcSucceeded(L4_Ipc(a->id, L4_nilthread, L4_Timeouts(second, L4_ZeroTime), nullptr)));
    CHECK_EQUAL(finish(a).value, 0x42u << 16);
}

/// A local id means nothing where its thread does not live.
void local_ids_end_with_the_space()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    ask(a, do_nothing);
    CHECK(ask(b, do_send, a->local.raw, 0x51).value & 0x8000);
    CHECK_EQUAL(b->out.error, 4);
    CHECK(ask(b, do_send, main_id.raw - 1, 0x51).value & 0x8000); // version 0: neither a local nor a global id
    CHECK_EQUAL(b->out.error, 4);
}

/// In two spaces one local id names two threads, each for its own.
void same_local_id_twice()
{
    // Two agents at the same place of their spaces' UTCB areas: the second is moved into the first one's slot.
    Agent *first = create(L4_nilthread, Kind::large);
    if (!first) return;
    const L4_ThreadId_t id = unused_id();
    const auto unchanged = reinterpret_cast<void *>(-1);
    CHECK(L4_ThreadControl(id, id, main_id, L4_nilthread, unchanged));
    CHECK(L4_SpaceControl(id, 0, L4_FpageLog2(kip_area, 12), L4_FpageLog2(utcb_area, utcb_area_log2), L4_nilthread,
                          nullptr));
    const bool made = L4_ThreadControl(id, id, main_id, main_id, reinterpret_cast<void *>(first->utcb));
    // Both wait for their start under the same local id; neither is main's.
    L4_Set_MsgTag(L4_Niltag);
    const bool known = L4_IpcSucceeded(L4_Send_Timeout(first->local, L4_ZeroTime));
    L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    CHECK(made);
    CHECK(!known);
    // The end of one leaves the other as it was.
    CHECK_EQUAL(L4_Schedule(first->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
}

/// Lipc is Ipc: it reaches other spaces, and carries items.
Word do_lipc(Word to, Word item0, Word item1)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x61u << 16 | 2u << 6});
    L4_LoadMR(1, item0);
    L4_LoadMR(2, item1);
    return L4_Lipc(L4_ThreadId_t{.raw = to}, L4_nilthread, L4_Timeouts(second, L4_Never), nullptr).raw;
}
Word do_take(Word from, Word window, Word)
{
    L4_Accept(L4_MapGrantItems(L4_Fpage_t{.raw = window}));
    const Word tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second).raw;
    L4_Accept(L4_UntypedWordsAcceptor);
    return tag;
}
void lipc_is_ipc()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    arena_word(0) = 0x11BC;
    give_page(a, 0, free_area, L4_FullyAccessible);
    const L4_Fpage_t page = page_at(free_area, L4_FullyAccessible);
    begin(b, do_take, a->id.raw, page_at(free_area, 0).raw);
    CHECK_EQUAL(ask(a, do_lipc, b->id.raw, L4_MapItem(page, 0).raw[0], page.raw).value, 0);
    CHECK_EQUAL(finish(b).value, 0x61u << 16 | 2u << 6);
    CHECK_EQUAL(ask(b, do_read, free_area).value, 0x11BC);
}

} // namespace

const Test ipc_rule_tests[] = {
    {"ipc.propagated_within_a_space", propagated_within_a_space},
    {"ipc.propagated_for_nobody", propagated_for_nobody},
    {"ipc.propagation_moves_the_wait", propagation_moves_the_wait},
    {"ipc.a_moved_wait_takes_what_is_queued", a_moved_wait_takes_what_is_queued},
    {"ipc.virtual_sender_without_p", virtual_sender_without_p},
    {"ipc.zero_timeout_takes_what_waits", zero_timeout_takes_what_waits},
    {"ipc.zero_timeout_reaches_who_waits", zero_timeout_reaches_who_waits},
    {"ipc.send_timeout_point", send_timeout_point},
    {"ipc.unnormalised_times", unnormalised_times},
    {"ipc.timeouts_without_phase", timeouts_without_phase},
    {"ipc.local_ids_end_with_the_space", local_ids_end_with_the_space},
    {"ipc.same_local_id_twice", same_local_id_twice},
    {"ipc.lipc_is_ipc", lipc_is_ipc},
    {nullptr, nullptr},
};

} // namespace x2test
