// SPDX-License-Identifier: BSD-2-Clause
// Ways to make the kernel's work for waiting threads long: many of them in one queue, ending at one time, or waiting
// for one who goes away. With the option latency=1; how long interrupts are off is the laboratory's to count (`./cobnut
// run latency/worst`).
#include "crowd.h"

#include <l4/kdebug.h>

namespace x2test {
namespace {

constexpr Word receive_timeout = 3;

Word do_sleep(Word microseconds, Word, Word)
{
    L4_Sleep(L4_TimePeriod(microseconds));
    return 0;
}

/// A wait that is to end behind all others begins, and is canceled.
void timeout_queue()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::here);
    const Crowd crowd(L4_nilthread, main_id, L4_Never, second);
    if (!a || !crowd.complete()) return;
    begin(a, do_sleep, 3000000);
    pause(2000);
    remove(a);
}

/// All wait until the same time.
void timeouts_expire()
{
    if (!wish.latency) return;
    const L4_Clock_t end = {.raw = L4_SystemClock().raw + 500000};
    const Crowd crowd(L4_nilthread, main_id, L4_Never, L4_TimePoint(end));
    if (!crowd.complete()) return;
    while (L4_SystemClock().raw < end.raw + 5000) pause(10000);
}

Word do_receive_from(Word from, Word, Word)
{
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, L4_ZeroTime);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// A receiver that accepts none of those who wait to send to it.
void closed_receive()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::here), *other = agent(Kind::here);
    if (!a || !other) return;
    const Crowd crowd(a->id, L4_nilthread, L4_Never, L4_Never);
    if (!crowd.complete()) return;
    CHECK_EQUAL(ask(a, do_receive_from, other->id.raw).value, receive_timeout);
}

/// Those who wait to send to a thread, and those who wait for a message from it.
void deletion()
{
    if (!wish.latency) return;
    constexpr bool ways[] = {true, false};
    for (const bool sends : ways) {
        Agent *a = agent(Kind::here);
        if (!a) return;
        const Crowd crowd(sends ? a->id : L4_nilthread, sends ? L4_nilthread : a->id, L4_Never, L4_Never);
        if (!crowd.complete()) return;
        remove(a);
    }
}

/// The same when it gets another version.
void renaming()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::here);
    if (!a) return;
    const Crowd crowd(a->id, L4_nilthread, L4_Never, L4_Never);
    const L4_ThreadId_t other = L4_GlobalId(L4_ThreadNo(a->id), L4_Version(a->id) + 1);
    if (!crowd.complete()) return;
    CHECK(L4_ThreadControl(other, main_id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    a->id = other;
}

constexpr int my_global_id = -60 / static_cast<int>(sizeof(Word)); // from the UTCB's address
void overwrite_id() { reinterpret_cast<volatile Word *>(L4_MyLocalId().raw)[my_global_id] = 0; }

/// A space whose threads have overwritten the global ids in their UTCBs: one is looked for by its local id.
void local_ids()
{
    if (!wish.latency) return;
    const Crowd crowd(L4_nilthread, main_id, L4_Never, L4_Never, overwrite_id);
    if (!crowd.complete()) return;
    const Word last = crowd.utcb(wish.threads - 1);
    CHECK_EQUAL(L4_GlobalIdOf(L4_ThreadId_t{.raw = last + L4_UtcbIdOffset}).raw, crowd.id(wish.threads - 1).raw);
    // Its UTCB is in use whatever stands there.
    CHECK(!L4_ThreadControl(unused_id(), main_id, main_id, main_id, reinterpret_cast<void *>(last)));
    CHECK_EQUAL(L4_ErrorCode(), 6);
}

/// A long text for the console, without a character that would show.
void console_text()
{
    if (!wish.latency) return;
    static constinit char text[1024] = {};
    for (char &c : text) c = ' ';
    text[1022] = '\n', text[1023] = 0;
    L4_KDB_PrintString(text);
}

/// Spaces come and go; they get a redirector and lose it.
void spaces()
{
    if (!wish.latency) return;
    for (int i = 0; i < 4; i++) {
        Agent *a = agent(Kind::large);
        if (!a) return;
        CHECK(L4_SpaceControl(a->id, 0, L4_Nilpage, L4_Nilpage, main_id, nullptr));
        CHECK(L4_SpaceControl(a->id, 0, L4_Nilpage, L4_Nilpage, L4_anythread, nullptr));
        remove(a);
    }
}

Word do_call(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x11u << 16});
    return L4_Call(L4_ThreadId_t{.raw = to}).raw;
}

Word do_send(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x66u << 16});
    return L4_Send(L4_ThreadId_t{.raw = to}).raw;
}

/// A stranger who sends to a client that is being served does not cost it its answer.
void answer_beside_a_stranger()
{
    Agent *client = agent(Kind::large), *stranger = agent(Kind::large);
    if (!client || !stranger) return;
    begin(client, do_call, main_id.raw);
    pause(3000);
    begin(stranger, do_send, client->id.raw);
    pause(3000);
    CHECK_EQUAL(L4_Label(L4_Receive_Timeout(client->id, second)), 0x11);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x99u << 16});
    CHECK(L4_IpcSucceeded(L4_Reply(client->id)));
    CHECK_EQUAL(finish(client).value, 0x99u << 16);
}

} // namespace

const Test waiting_tests[] = {
    {"waiting.answer_beside_a_stranger", answer_beside_a_stranger},
    {"latency.wait_queue", timeout_queue},
    {"latency.wait_expiry", timeouts_expire},
    {"latency.wait_receive", closed_receive},
    {"latency.wait_deletion", deletion},
    {"latency.wait_renaming", renaming},
    {"latency.wait_local_ids", local_ids},
    {"latency.wait_console", console_text},
    {"latency.wait_spaces", spaces},
    {nullptr, nullptr},
};

} // namespace x2test
