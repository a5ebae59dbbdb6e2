// SPDX-License-Identifier: BSD-2-Clause
// Redirectors (manual 4.3, 5.4): which thread gets what a redirected space sends, and forwarding in the sender's name.
#include "crowd.h"
#include "harness.h"

namespace x2test {
namespace {

constexpr Word hello = 0x00770001, reply = 0x00880001;

Word redirect_error(const Agent *a, L4_ThreadId_t to) { return redirect(a, to) ? 0 : L4_ErrorCode(); }

void say(Word tag, Word word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = tag});
    L4_LoadMR(1, word);
}

constinit volatile Word called = 0;

/// Calls `to`, without timeouts: the fast path's kind of call. Its answer's word, or the error, which `called` keeps as
/// well.
Word do_call(Word to, Word word, Word)
{
    say(hello, word);
    const L4_MsgTag_t tag = L4_Call(L4_ThreadId_t{.raw = to});
    if (L4_IpcFailed(tag)) {
        called = 0xE000 | L4_ErrorCode();
        return called;
    }
    Word mr[2];
    L4_StoreMRs(0, 2, mr);
    return mr[1];
}

struct Seen {
    Word from, tag, word, actual, intended;
};
constinit Seen seen = {};

/// Waits for any thread, remembers what came, answers it.
Word do_serve(Word, Word, Word)
{
    L4_ThreadId_t from;
    const L4_MsgTag_t tag = L4_Wait(&from);
    Word mr[2];
    L4_StoreMRs(0, 2, mr);
    seen = {from.raw, tag.raw, mr[1], L4_ActualSender().raw, L4_IntendedReceiver().raw};
    if (L4_IpcFailed(tag)) return 0;
    say(reply, mr[1] + 1);
    return L4_IpcSucceeded(L4_Reply(from));
}

/// The redirected call of `client` as main gets it.
void expect_redirected(const Agent *client, const Agent *server, Word word)
{
    const L4_MsgTag_t tag = L4_Receive_Timeout(client->id, second);
    Word mr[2];
    L4_StoreMRs(0, 2, mr);
    CHECK(L4_IpcSucceeded(tag));
    CHECK(L4_IpcRedirected(tag) && !L4_IpcPropagated(tag));
    CHECK_EQUAL(tag.raw & 0xFFFF0FFF, hello);
    CHECK_EQUAL(mr[1], word);
    CHECK_EQUAL(L4_IntendedReceiver().raw, server->id.raw);
}

/// Main passes the word on in the client's name.
Word forward(const Agent *client, const Agent *server, Word word)
{
    L4_MsgTag_t tag = {.raw = hello};
    L4_Set_Propagation(&tag);
    L4_Set_VirtualSender(client->id);
    say(tag.raw, word);
    return L4_IpcSucceeded(L4_Send_Timeout(server->id, second));
}

void deflected_and_forwarded()
{
    Agent *client = agent(Kind::other), *server = agent(Kind::other);
    if (!client || !server) return;
    CHECK_EQUAL(redirect_error(client, main_id), 0);
    for (Word i = 1; i <= 2; i++) { // the second time all wait as the fast path leaves them
        begin(server, do_serve);
        begin(client, do_call, server->id.raw, i);
        expect_redirected(client, server, i);
        CHECK(forward(client, server, i));
        CHECK_EQUAL(finish(client).value, i + 1); // the server answers the client itself
        CHECK_EQUAL(finish(server).value, 1);
        CHECK_EQUAL(seen.from, client->id.raw);
        CHECK(L4_IpcPropagated(L4_MsgTag_t{.raw = seen.tag}) && !L4_IpcRedirected(L4_MsgTag_t{.raw = seen.tag}));
        CHECK_EQUAL(seen.actual, main_id.raw);
    }
}

/// A sender that has to wait waits for the redirector, not for the thread that it names.
void waits_for_the_redirector()
{
    Agent *client = agent(Kind::other), *server = agent(Kind::other);
    if (!client || !server) return;
    CHECK_EQUAL(redirect_error(client, main_id), 0);
    begin(server, do_serve);
    begin(client, do_call, server->id.raw, 5);
    pause(5000); // main accepts no message meanwhile
    CHECK_EQUAL(L4_Schedule(client->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_PENDING_SEND);
    expect_redirected(client, server, 5);
    CHECK(forward(client, server, 5));
    CHECK_EQUAL(finish(client).value, 6);
    CHECK_EQUAL(finish(server).value, 1);
}

/// Messages inside a redirected space go to no redirector, by either kind of id.
void neighbours_talk_freely(bool local)
{
    Agent *client = agent(Kind::other), *guard = agent(Kind::other);
    Agent *mate = client ? agent_beside(client) : nullptr;
    if (!guard || !mate) return;
    seen = {};
    CHECK_EQUAL(redirect_error(client, guard->id), 0);
    begin(mate, do_serve);
    begin(client, do_call, local ? mate->local.raw : mate->id.raw, 3);
    CHECK(L4_IpcFailed(L4_Receive_Timeout(mate->id, short_time))); // its own report to main goes to the guard
    CHECK_EQUAL(seen.from, client->local.raw);
    CHECK_EQUAL(seen.word, 3);
    CHECK(!L4_IpcRedirected(L4_MsgTag_t{.raw = seen.tag}));
}
void neighbours_by_global_id() { neighbours_talk_freely(false); }
void neighbours_by_local_id() { neighbours_talk_freely(true); }

void to_the_redirectors_space()
{
    Agent *client = agent(Kind::other), *beside_main = agent(Kind::here);
    if (!client || !beside_main) return;
    CHECK_EQUAL(redirect_error(client, main_id), 0);
    begin(beside_main, do_serve);
    begin(client, do_call, beside_main->id.raw, 7);
    CHECK_EQUAL(finish(client).value, 8);
    CHECK_EQUAL(finish(beside_main).value, 1);
    CHECK_EQUAL(seen.from, client->id.raw);
    CHECK(!L4_IpcRedirected(L4_MsgTag_t{.raw = seen.tag}));
}

void freed_again()
{
    Agent *client = agent(Kind::other), *server = agent(Kind::other);
    if (!client || !server) return;
    CHECK_EQUAL(redirect_error(client, main_id), 0);
    CHECK_EQUAL(redirect_error(client, L4_nilthread), 0); // as it is
    begin(server, do_serve);
    begin(client, do_call, server->id.raw, 1);
    expect_redirected(client, server, 1);
    say(reply, 0);
    CHECK(L4_IpcFailed(L4_Reply(client->id))); // it waits for the server
    CHECK(forward(client, server, 1));
    CHECK_EQUAL(finish(client).value, 2);
    CHECK_EQUAL(finish(server).value, 1);
    CHECK_EQUAL(redirect_error(client, L4_anythread), 0);
    begin(server, do_serve);
    begin(client, do_call, server->id.raw, 2);
    CHECK_EQUAL(finish(client).value, 3);
    CHECK_EQUAL(finish(server).value, 1);
}

/// A thread that joins a redirected space is redirected as well.
void newcomers()
{
    Agent *client = agent(Kind::other), *server = agent(Kind::other);
    if (!client || !server) return;
    CHECK_EQUAL(redirect_error(client, main_id), 0);
    Agent *mate = agent_beside(client);
    if (!mate) return;
    begin(server, do_serve);
    begin(mate, do_call, server->id.raw, 9);
    expect_redirected(mate, server, 9);
    CHECK(forward(mate, server, 9));
    CHECK_EQUAL(finish(mate).value, 10);
}

/// Without its redirector a space can send to no other.
void redirector_gone()
{
    Agent *client = agent(Kind::other), *server = agent(Kind::other), *guard = agent(Kind::other);
    if (!client || !server || !guard) return;
    seen = {};
    CHECK_EQUAL(redirect_error(client, guard->id), 0);
    remove(guard);
    begin(server, do_serve);
    begin(client, do_call, server->id.raw, 1);
    pause(10000);
    CHECK_EQUAL(seen.tag, 0);
    CHECK_EQUAL(called, 0xE004); // no such partner, in the send phase
}

void chain_may_forward()
{
    Agent *client = agent(Kind::other), *first = agent(Kind::other), *server = agent(Kind::other);
    if (!client || !first || !server) return;
    begin(server, do_serve);
    CHECK_EQUAL(redirect_error(first, main_id), 0);
    CHECK_EQUAL(redirect_error(client, first->id), 0);
    CHECK(forward(client, server, 4)); // main is the redirector of the client's redirector
    pause(5000);
    CHECK_EQUAL(seen.from, client->id.raw);
    CHECK_EQUAL(seen.actual, main_id.raw);
    CHECK_EQUAL(redirect_error(client, L4_anythread), 0);
    CHECK_EQUAL(redirect_error(first, L4_anythread), 0);
}

/// Runs at each tick of the clock, in between whatever others do in the kernel.
Word do_wake_often(Word times, Word, Word)
{
    while (times-- > 0) pause(1);
    return 0;
}

Word do_redirect_often(Word space, Word to, Word)
{
    const L4_ThreadId_t id = {.raw = space}, redirectors[] = {{.raw = to}, L4_anythread};
    while (called)
        for (const L4_ThreadId_t redirector : redirectors)
            if (!L4_SpaceControl(id, 0, L4_Nilpage, L4_Nilpage, redirector, nullptr)) return L4_ErrorCode();
    return 0;
}

/// All threads are told of it, some at a time: one that has not been told yet runs in between.
void told_in_parts()
{
    constexpr Word ticks = 50, below = 90;
    Agent *client = agent(Kind::other), *helper = agent(Kind::here);
    if (!client || !helper) return;
    const Crowd crowd(L4_nilthread, main_id, L4_Never, L4_Never);
    if (!crowd.complete()) return;
    L4_Set_Priority(helper->id, below);
    called = 1;
    begin(helper, do_redirect_often, client->id.raw, main_id.raw);
    CHECK_EQUAL(ask(client, do_wake_often, ticks).value, 0);
    called = 0;
    CHECK_EQUAL(finish(helper).value, 0);
}

void bad_redirector()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(redirect_error(a, unused_id()), L4_ErrInvalidThread);
    CHECK_EQUAL(redirect_error(a, L4_anylocalthread), L4_ErrInvalidThread);
    CHECK_EQUAL(redirect_error(a, a->local), L4_ErrInvalidThread); // a local id of another space
    CHECK(ask(a, do_nothing).done); // nothing has changed
}

} // namespace

const Test redirect_tests[] = {
    {"redirect.bad_redirector", bad_redirector},
    {"redirect.told_in_parts", told_in_parts},
    {"redirect.deflected_and_forwarded", deflected_and_forwarded},
    {"redirect.waits_for_the_redirector", waits_for_the_redirector},
    {"redirect.neighbours_by_global_id", neighbours_by_global_id},
    {"redirect.neighbours_by_local_id", neighbours_by_local_id},
    {"redirect.to_the_redirectors_space", to_the_redirectors_space},
    {"redirect.freed_again", freed_again},
    {"redirect.newcomers", newcomers},
    {"redirect.redirector_gone", redirector_gone},
    {"redirect.chain_may_forward", chain_may_forward},
    {nullptr, nullptr},
};

} // namespace x2test
