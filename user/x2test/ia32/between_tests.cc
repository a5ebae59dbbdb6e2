// SPDX-License-Identifier: BSD-2-Clause
// What may happen to a client between its reflected call and the answer, both by the kernel's shortest way.
#include "reflected.h"

#include <cobnut/tags.h>
#include <cobnut/tls.h>
#include <initializer_list>

namespace x2test {
namespace {

constexpr Word keep = ~0u, none = ~0u, tag_of_exception = 0xFFB0000C;
const auto unchanged = reinterpret_cast<void *>(-1);

Word state_of(const Agent *a) { return L4_Schedule(a->id, keep, keep, keep, keep, nullptr); }

/// A client with a segment of its own in GS, whose second call finds what is behind it when it comes.
Word do_call_and_read(Word handler, Word selector, Word segments)
{
    Word first, result;
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    __asm__ volatile("mov %%gs, %%ecx; push %%ecx; mov %%fs, %%ecx; push %%ecx\n"
                     "testb $1, %%bl; jz 1f; mov %%edx, %%gs; 1: testb $2, %%bl; jz 1f; mov %%edx, %%fs\n"
                     "1: mov $0x61, %%eax; int $0x80; mov %%eax, %%esi\n"
                     "testb $1, %%bl; jz 1f; mov %%gs:0, %%eax; 1: testb $2, %%bl; jz 1f; mov %%fs:0, %%eax\n"
                     "1: pop %%ecx; mov %%ecx, %%fs; pop %%ecx; mov %%ecx, %%gs"
                     : "=&a"(result), "=&S"(first)
                     : "d"(selector), "b"(segments)
                     : "ecx", "memory");
    L4_Set_ExceptionHandler(main_id);
    return first == 0x62 ? result : first | 0xE0000;
}

enum class Change { nothing, other_base, no_segment, other_slot, large, small, large_and_back, grown, last };

void change(const Agent *a, Change what)
{
    switch (what) {
    case Change::other_base: Cobnut_TlsControl(a->id, arena_page(4), nullptr); break;
    case Change::no_segment: Cobnut_TlsControl(a->id, none, nullptr); break;
    case Change::other_slot: make_small(a, 13); break;
    case Change::large_and_back:
    case Change::large:
        make_large(a);
        if (what == Change::large_and_back) make_small(a, 14);
        break;
    case Change::small: make_small(a, 15); break;
    case Change::grown:
        make_large(a);
        cobnut::give_slot(a->id, 5);
        break;
    case Change::nothing:
    case Change::last: break;
    }
}

/// The client's segment, or its space's slot, is another when it goes on: it finds what it should.
void changed_with(Word segments)
{
    for (const Kinds kinds : all_kinds)
        for (Word what = 0; what < static_cast<Word>(Change::last); what++) {
            const auto wanted = static_cast<Change>(what);
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p) return;
            Word selector = 0;
            CHECK(Cobnut_TlsControl(p.client->id, arena_page(3), &selector));
            arena_word(3) = 0x31;
            arena_word(4) = 0x41;
            ask(p.client, do_read, arena_page(3));
            ask(p.client, do_read, arena_page(4));
            catch_from(p, do_call_and_read, selector, segments);
            CHECK_EQUAL(caught[12], 0x61);
            change(p.client, wanted);
            load_simple_answer(0x62);
            begin(p.server, do_answer_last, p.client->id.raw);
            const Outcome &out = finish(p.client, wanted == Change::no_segment);
            // Without it, the selector is worth nothing.
            if (wanted == Change::no_segment) CHECK(!out.done || out.value != 0x31);
            else CHECK_EQUAL(out.value, wanted == Change::other_base ? 0x41 : 0x31);
            remove(p);
        }
}
void segment_in_gs() { changed_with(in_gs); }
void segment_in_fs() { changed_with(in_fs); }

/// What a sibling sees of the client while it waits, and does to it.
Word do_exchange(Word dest, Word control, Word ip)
{
    L4_Word_t old_control = 0, old_sp = 0, old_ip = 0, old_flags = 0;
    const L4_ThreadId_t other = L4_ExchangeRegisters(L4_ThreadId_t{.raw = dest}, control, 0, ip, 0, 0, L4_nilthread,
                                                     &old_control, &old_sp, &old_ip, &old_flags, nullptr, nullptr);
    answer[60] = old_control, answer[61] = old_sp, answer[62] = old_ip, answer[63] = old_flags;
    return other.raw;
}
void registers_exchanged()
{
    const Word call = reinterpret_cast<Word>(x2test_call_ip);
    for (const Kinds kinds : all_kinds)
        for (const bool local : {false, true}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            Agent *sibling = p ? agent_beside(p.client) : nullptr;
            if (!sibling || !call_is_caught(p, 1)) return;
            const Word dest = local ? p.client->local.raw : p.client->id.raw;
            CHECK(ask(sibling, do_exchange, dest, 0).value != 0);
            CHECK_EQUAL(answer[60] & 7, L4_EXREGS_RECV);
            CHECK_EQUAL(answer[61], caught[8]);
            CHECK_EQUAL(answer[62], call);
            CHECK_EQUAL(answer[63] & 0xFFFF, caught[2] & 0xFFFF);
            CHECK(answered(p, 2)); // looking does not hurt
            remove(p.server);
            Agent *next = agent(kinds.server == Kind::here ? Kind::large : kinds.server);
            if (!next) return;
            const Pair q{p.client, next};
            // Another IP, which the answer takes the place of.
            CHECK(call_is_caught(q, 3));
            ask(sibling, do_exchange, dest, L4_EXREGS_IP, 0x1234);
            CHECK(answered(q, 4));
            remove(next), remove(sibling), remove(p.client);
        }
}

/// Its wait is canceled: it calls again.
void canceled()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        Agent *sibling = p ? agent_beside(p.client) : nullptr;
        if (!sibling || !call_is_caught(p, 5)) return;
        caught[12] = 0;
        begin(p.server, do_catch);
        pause(1000);
        ask(sibling, do_exchange, p.client->id.raw, L4_EXREGS_RECV);
        CHECK_EQUAL(answer[60] & 7, L4_EXREGS_RECV);
        finish(p.server);
        CHECK_EQUAL(caught[12], 5);
        CHECK(answered(p, 6));
        remove(p), remove(sibling);
    }
}

/// It is halted: the answer is taken, and it goes on when it is set going again.
void halted()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        Agent *sibling = p ? agent_beside(p.client) : nullptr;
        if (!sibling || !call_is_caught(p, 7)) return;
        ask(sibling, do_exchange, p.client->id.raw, L4_EXREGS_HALT | L4_EXREGS_SETHALT);
        load_simple_answer(8);
        begin(p.server, do_answer_last, p.client->id.raw);
        pause(5000);
        CHECK(!p.client->out.done);
        CHECK_EQUAL(state_of(p.client), L4_SCHEDRESULT_INACTIVE);
        ask(sibling, do_exchange, p.client->id.raw, L4_EXREGS_SETHALT);
        CHECK_EQUAL(answer[60] & 7, L4_EXREGS_HALT);
        CHECK_EQUAL(finish(p.client).value, 8);
        remove(p), remove(sibling);
    }
}

void state_told()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p || !call_is_caught(p, 9)) return;
        CHECK_EQUAL(state_of(p.client), L4_SCHEDRESULT_WAITING);
        CHECK(L4_Set_Priority(p.client->id, 90));
        CHECK(L4_Set_Timeslice(p.client->id, L4_TimePeriod(3000), L4_Never));
        CHECK(answered(p, 10));
        remove(p);
    }
}

Word do_try_answer(Word client, Word, Word)
{
    L4_LoadMRs(0, 13, answer);
    L4_ThreadId_t from;
    L4_Ipc(L4_ThreadId_t{.raw = client}, L4_anythread, L4_Timeouts(L4_Never, L4_Never), &from);
    return L4_ErrorCode();
}
/// The client goes, alone or with its space, and another gets its number: the answer reaches neither.
void client_deleted()
{
    constexpr Word no_partner = 4; // in the send phase
    for (const Kinds kinds : all_kinds)
        for (const bool again : {false, true}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p || !call_is_caught(p, 11)) return;
            load_simple_answer(12);
            const L4_ThreadId_t id = p.client->id;
            if (kinds.server == Kind::here) {
                CHECK(L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged));
            } else {
                remove(p.client);
                if (again && !agent(kinds.client)) return;
            }
            CHECK_EQUAL(ask(p.server, do_try_answer, id.raw).value, no_partner);
            remove(p.server);
            if (kinds.server == Kind::here) remove(p.client);
        }
}

/// The server goes, or is another by its id: the client has no handler any more, and halts; no thread can answer it.
void server_deleted()
{
    for (const Kinds kinds : all_kinds)
        for (const bool renamed : {false, true}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p || !call_is_caught(p, 13)) return;
            load_simple_answer(14);
            if (renamed) {
                const L4_ThreadId_t next = L4_GlobalId(L4_ThreadNo(p.server->id), (L4_Version(p.server->id) + 1) | 1);
                CHECK(L4_ThreadControl(next, p.server->id, L4_nilthread, L4_nilthread, unchanged));
                p.server->id = next;
            } else {
                remove(p.server);
            }
            pause(3000);
            CHECK_EQUAL(state_of(p.client), L4_SCHEDRESULT_INACTIVE);
            if (renamed) {
                begin(p.server, do_answer, p.client->id.raw);
                pause(3000);
                CHECK(!p.client->out.done);
                remove(p.server);
            }
            remove(p.client);
        }
}

/// The client becomes a thread of another space: there it calls again, and goes on.
void migrated()
{
    for (const Kinds kinds : all_kinds)
        for (const Kind target : {Kind::large, Kind::small}) {
            if (kinds.server == Kind::here) continue;
            const Pair p = pair_of(kinds.client, kinds.server);
            Agent *other = agent(target), *stays = p ? agent_beside(p.client) : nullptr;
            if (!other || !stays) return;
            arena_word(3) = 0x31;
            arena_word(5) = 0x51;
            give_page(p.client, 3, free_area, L4_FullyAccessible);
            give_page(other, 5, free_area, L4_FullyAccessible);
            Word selector = 0;
            CHECK(Cobnut_TlsControl(p.client->id, free_area, &selector));
            catch_from(p, do_call_and_read, selector, in_gs);
            CHECK_EQUAL(caught[12], 0x61);
            CHECK(L4_ThreadControl(p.client->id, other->id, L4_nilthread, L4_nilthread, unchanged));
            caught[12] = 0;
            begin(p.server, do_catch);
            finish(p.server);
            CHECK_EQUAL(caught[12], 0x61); // a migration cancels
            load_simple_answer(0x62);
            begin(p.server, do_answer_last, p.client->id.raw);
            CHECK_EQUAL(finish(p.client).value, 0x51);
            remove(p), remove(other), remove(stays);
        }
}

/// With a redirector: the server itself, a thread beside it, or a stranger, which gets the call then.
void redirected()
{
    for (const Kinds kinds : all_kinds) {
        if (kinds.server == Kind::here) continue;
        const Pair p = pair_of(kinds.client, kinds.server);
        Agent *beside = p ? agent_beside(p.server) : nullptr, *stranger = agent(Kind::large);
        if (!beside || !stranger) return;
        for (const Agent *redirector : {p.server, beside}) {
            CHECK(redirect(p.client, redirector->id));
            catch_from(p, do_one_call, 15);
            CHECK_EQUAL(caught[0], tag_of_exception);
            CHECK_EQUAL(caught[12], 15);
            load_simple_answer(16);
            // Main is nobody's redirector: it gets what the client says again.
            CHECK(redirect(p.client, L4_anythread));
            begin(p.server, [](Word client, Word, Word) {
                L4_LoadMRs(0, 13, answer);
                L4_Call(L4_ThreadId_t{.raw = client});
                return Word{0};
            }, p.client->id.raw);
            CHECK_EQUAL(finish(p.client).value, 16);
            begin(p.client, [](Word to, Word, Word) {
                L4_Set_MsgTag(L4_Niltag);
                return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second).raw;
            }, p.server->id.raw);
            finish(p.client);
            finish(p.server);
        }
        CHECK(redirect(p.client, stranger->id));
        caught[12] = 0;
        begin(stranger, do_catch);
        begin(p.server, do_catch);
        pause(1000);
        begin(p.client, do_one_call, p.server->id.raw, 17);
        CHECK_EQUAL(finish(stranger).value, p.client->id.raw);
        CHECK_EQUAL(caught[12], 17);
        CHECK_EQUAL(caught[0], tag_of_exception | 1 << 13); // redirected
        remove(p), remove(beside), remove(stranger);
    }
}

/// The server passes the call on in the client's name: the other one answers, not it.
Word do_pass_on(Word client, Word to, Word)
{
    L4_MsgTag_t tag = {.raw = tag_of_exception};
    L4_Set_Propagation(&tag);
    L4_Set_VirtualSender(L4_ThreadId_t{.raw = client});
    L4_LoadMRs(1, 12, caught + 1);
    L4_Set_MsgTag(tag);
    return L4_IpcSucceeded(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second));
}
void passed_on()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        Agent *other = p ? agent_beside(p.server) : nullptr;
        if (!other || !call_is_caught(p, 18)) return;
        begin(other, do_catch);
        pause(1000);
        CHECK(ask(p.server, do_pass_on, p.client->id.raw, other->id.raw).value);
        finish(other);
        CHECK_EQUAL(caught[12], 18);
        const Pair q{p.client, other};
        CHECK(answered(q, 19));
        remove(p), remove(other);
    }
}

} // namespace

const Test between_tests[] = {
    {"between.segment_in_gs", segment_in_gs},
    {"between.segment_in_fs", segment_in_fs},
    {"between.registers_exchanged", registers_exchanged},
    {"between.canceled", canceled},
    {"between.halted", halted},
    {"between.state_told", state_told},
    {"between.client_deleted", client_deleted},
    {"between.server_deleted", server_deleted},
    {"between.migrated", migrated},
    {"between.redirected", redirected},
    {"between.passed_on", passed_on},
    {nullptr, nullptr},
};

} // namespace x2test
