// SPDX-License-Identifier: BSD-2-Clause
// Calls without timeouts between threads that wait: the kernel's shortest way. The highest thread runs first, and what
// a thread does to others that wait so, or to its own pages, counts.
#include "harness.h"

namespace x2test {
namespace {

constexpr Kind both[] = {Kind::large, Kind::small};

Agent *agent_with_page(Kind kind)
{
    Agent *a = agent(kind);
    if (a) give_page(a, 3, free_area, L4_FullyAccessible);
    return a;
}

void set_priority(const Agent *a, Word priority) { L4_Set_Priority(a->id, priority); }

volatile Word flag;
Word do_raise_flag(Word, Word, Word)
{
    flag = 1;
    return 0;
}
Word do_call(Word partner, Word, Word) { return L4_Call(L4_ThreadId_t{.raw = partner}).raw; }
Word do_receive_and_look(Word client, Word, Word)
{
    L4_Receive(L4_ThreadId_t{.raw = client});
    const Word seen = flag;
    L4_Set_MsgTag(L4_Niltag);
    L4_Send(L4_ThreadId_t{.raw = client});
    return seen;
}

/// The receiver of a call runs at once only if no higher thread is ready.
void better_thread_first()
{
    Agent *client = agent(Kind::other), *server = agent(Kind::other), *better = agent(Kind::other);
    if (!client || !server || !better) return;
    // First of all: a thread that Schedule has looked at is no longer called the short way.
    set_priority(server, 50);
    set_priority(better, 70);
    set_priority(client, 100);
    begin(server, do_receive_and_look, client->id.raw);
    pause(1000);
    flag = 0;
    begin(better, do_raise_flag);
    begin(client, do_call, server->id.raw);
    CHECK_EQUAL(finish(server).value, 1);
}

Word do_reply_to_first_of_two(Word, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    for (int served = 0; served < 2; served++) {
        L4_Set_MsgTag(L4_Niltag);
        L4_ThreadSwitch(L4_nilthread); // the other one gets into the queue
        if (served == 0) L4_ReplyWait(from, &from);
        else L4_Reply(from);
    }
    return 0;
}

/// A receive from any thread takes a queued sender instead of waiting.
void queued_sender_is_taken()
{
    Agent *server = agent(Kind::other), *first = agent(Kind::other), *second_one = agent(Kind::other);
    if (!server || !first || !second_one) return;
    begin(server, do_reply_to_first_of_two);
    pause(1000);
    begin(first, do_call, server->id.raw);
    begin(second_one, do_call, server->id.raw);
    finish(server);
    CHECK(finish(first).done);
    CHECK(finish(second_one).done);
}

Word do_words(Word partner, Word count, Word)
{
    for (Word i = 1; i <= count; i++) L4_LoadMR(static_cast<int>(i), 0xABC00 + i);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x77u << 16 | count});
    L4_MsgTag_t tag = L4_Call(L4_ThreadId_t{.raw = partner});
    if (tag.raw != (0x78u << 16 | count)) return 1000;
    for (Word i = 1; i <= count; i++) {
        Word word;
        L4_StoreMR(static_cast<int>(i), &word);
        if (word != 0xABC01 + i) return i;
    }
    return 0;
}
} // namespace
Word do_increment_words(Word client, Word, Word)
{
    L4_MsgTag_t tag = L4_Receive(L4_ThreadId_t{.raw = client});
    for (;;) {
        const Word count = L4_UntypedWords(tag);
        for (Word i = 1; i <= count; i++) {
            Word word;
            L4_StoreMR(static_cast<int>(i), &word);
            L4_LoadMR(static_cast<int>(i), word + 1);
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x78u << 16 | count});
        tag = L4_Call(L4_ThreadId_t{.raw = client});
    }
}
namespace {
void all_sizes()
{
    for (const Kind client_kind : both)
        for (const Kind server_kind : both) {
            Agent *client = agent(client_kind), *server = agent(server_kind);
            if (!client || !server) return;
            begin(server, do_increment_words, client->id.raw);
            pause(1000);
            for (Word count = 0; count < 64; count++)
                CHECK_EQUAL(ask(client, do_words, server->id.raw, count).value, 0);
            remove(client);
            remove(server);
        }
}

[[noreturn]] void elsewhere()
{
    flag = 7;
    for (;;) L4_Sleep(second);
}
Word do_answer_and_wait(Word client, Word, Word)
{
    L4_Receive(L4_ThreadId_t{.raw = client});
    L4_Set_MsgTag(L4_Niltag);
    L4_ThreadId_t from;
    L4_ReplyWait(L4_ThreadId_t{.raw = client}, &from);
    return 0;
}

/// A thread whose IP was exchanged during its call goes on there, also if the answer comes the short way.
void exchanged_ip_counts()
{
    Agent *client = agent(Kind::here), *server = agent(Kind::here);
    if (!client || !server) return;
    begin(client, do_call, server->id.raw); // not received yet
    pause(1000);
    flag = 0;
    L4_Word_t control, sp, ip, flags, handle;
    L4_ThreadId_t pager;
    L4_ExchangeRegisters(client->id, 0x18, stack_of(client) - 1024, reinterpret_cast<Word>(elsewhere), 0, 0,
                         L4_nilthread, &control, &sp, &ip, &flags, &handle, &pager);
    begin(server, do_answer_and_wait, client->id.raw);
    pause(3000);
    CHECK_EQUAL(flag, 7);
}

/// A thread number that was tried before it existed is found when it does.
void numbers_far_apart()
{
    for (Word number = 2000; number < 200000; number += 49000) {
        const L4_ThreadId_t far = L4_GlobalId(number, 1);
        L4_Set_MsgTag(L4_Niltag);
        CHECK(L4_IpcFailed(L4_Call(far)));
        CHECK(L4_ThreadControl(far, far, main_id, L4_nilthread, reinterpret_cast<void *>(-1)) != 0);
        L4_Word_t old;
        CHECK_EQUAL(L4_Schedule(far, ~0u, ~0u, ~0u, ~0u, &old), 2);
        CHECK(L4_ThreadControl(far, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)) != 0);
        CHECK(L4_IpcFailed(L4_Call(far)));
    }
}

// What a thread took from itself it does not have any longer, though the processor may remember: no switch between.
Word do_use_flush_use(Word address, Word, Word)
{
    do_write(address, 1, 0);
    do_flush(page_at(address, L4_FullyAccessible).raw, 0x40, 0);
    do_read(address, 0, 0); // a write would fault already where only the right to write is gone
    return 0;
}
Word do_write_protect_write(Word address, Word, Word)
{
    do_write(address, 1, 0);
    do_flush(page_at(address, L4_Writable).raw, 0x40, 0);
    do_write(address, 2, 0);
    return 0;
}
Word do_status_twice(Word address, Word, Word)
{
    do_write(address, 1, 0);
    do_flush(page_at(address, 0).raw, 0, 0);
    do_write(address, 2, 0);
    return do_flush(page_at(address, 0).raw, 0, 0) & 7;
}
void own_flush_is_felt()
{
    for (const Kind kind : both) {
        Agent *a = agent_with_page(kind);
        if (!a) return;
        CHECK(ask(a, do_use_flush_use, free_area).faults != 0);
        scratch_reset();
        remove(a);
    }
}
void own_protection_is_felt()
{
    for (const Kind kind : both) {
        Agent *a = agent_with_page(kind);
        if (!a) return;
        CHECK(ask(a, do_write_protect_write, free_area).faults != 0);
        scratch_reset();
        remove(a);
    }
}
void status_is_noted_again()
{
    for (const Kind kind : both) {
        Agent *a = agent_with_page(kind);
        if (!a) return;
        CHECK_EQUAL(ask(a, do_status_twice, free_area).value, L4_FullyAccessible);
        remove(a);
    }
}

} // namespace

const Test call_tests[] = {
    {"fast.better_thread_first", better_thread_first},
    {"fast.queued_sender_is_taken", queued_sender_is_taken},
    {"fast.all_sizes", all_sizes},
    {"fast.exchanged_ip_counts", exchanged_ip_counts},
    {"fast.numbers_far_apart", numbers_far_apart},
    {"fast.own_flush_is_felt", own_flush_is_felt},
    {"fast.own_protection_is_felt", own_protection_is_felt},
    {"fast.status_is_noted_again", status_is_noted_again},
    {nullptr, nullptr},
};

} // namespace x2test
