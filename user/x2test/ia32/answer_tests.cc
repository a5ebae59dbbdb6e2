// SPDX-License-Identifier: BSD-2-Clause
// What an answer to a reflected call by the kernel's shortest way may be, which thread may give it, and from where a
// call comes.
#include "reflected.h"

#include <cobnut/tags.h>
#include <initializer_list>

namespace x2test {
namespace {

constexpr Word protection = 13, tag_of_exception = 0xFFB0000C, kernel_address = 0xF0001000, own_word = 0x5E1F0000;

/// Slots are taken back while the server waits: its page directory has missed that when the call comes, and has to be
/// cleaned on the way.
void slots_taken_back()
{
    for (const Kinds kinds : all_kinds)
        for (const bool before_the_answer : {false, true}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            Agent *other = agent(Kind::large);
            if (!p || !other) return;
            const auto revoke = [&] {
                cobnut::give_slot(other->id, 4);
                ask(other, do_nothing);
                make_large(other);
            };
            caught[12] = 0;
            begin(p.server, do_catch);
            pause(1000);
            if (!before_the_answer) revoke();
            begin(p.client, do_one_call, p.server->id.raw, 0x51);
            finish(p.server);
            CHECK_EQUAL(caught[12], 0x51);
            if (before_the_answer) revoke();
            CHECK(answered(p, 0x52));
            CHECK_EQUAL(p.client->out.exceptions + p.server->out.exceptions, 0);
            remove(p), remove(other);
        }
}

/// To code at `code`, below 1 MB, by an iret to virtual 8086 mode with IOPL 3. Only an emulator follows it.
Word do_call_from_virtual_8086(Word handler, Word code, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    __asm__ volatile("pushl $0; pushl $0; pushl $0; pushl $0\n"
                     "mov %%ss, %%edi; pushl %%edi; pushl %%esp; pushl $0x23202; pushl %0; pushl $0; iret"
                     :
                     : "b"(code >> 4)
                     : "edi", "memory");
    return 8086;
}
/// Nor does such a call come from a mode in which a user has no business: its entry saves four more words.
void not_from_virtual_8086_mode()
{
    constexpr Word code = 0x10000;
    for (const bool handler_is_main : {false, true}) {
        Agent *a = agent(Kind::large), *b = agent(Kind::other), *server = agent(Kind::other);
        if (!a || !b || !server) return;
        arena_word(0) = 0x80CD; // int $0x80
        give_page(a, 0, code, L4_FullyAccessible);
        begin(server, do_catch);
        pause(1000);
        begin(a, do_call_from_virtual_8086, handler_is_main ? main_id.raw : server->id.raw, code);
        CHECK(!finish(a, true).done);
        CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
        remove(a), remove(b), remove(server);
    }
}

/// Where it answers what it caught with this tag and EAX, or less, the client goes on with what was answered alone.
void other_lengths()
{
    constexpr Word propagated = 1u << 12;
    const struct {
        Word tag, eax;
    } cases[] = {{1, 5}, {11, 5}, {13, 6}, {63, 6}, {0x12340000 | 12, 6}, {12 | propagated, 6}};
    for (const Kinds kinds : all_kinds)
        for (const auto &one : cases) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p || !call_is_caught(p, 5)) return;
            load_simple_answer(6);
            for (Word i = 13; i < 64; i++) answer[i] = 0xBAD00000 + i;
            answer[0] = one.tag;
            begin(p.server, do_answer_last, p.client->id.raw);
            CHECK_EQUAL(finish(p.client).value, one.eax);
            CHECK_EQUAL(p.client->out.exceptions, 0);
            remove(p);
        }
}

/// An answer may map, wherever: the client goes on with the page and all registers.
void with_an_item()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p || !call_is_caught(p, 5)) return;
        load_simple_answer(6);
        const Word own = free_area + 0x10000;
        arena_word(0) = own_word;
        if (kinds.server != Kind::here) give_page(p.server, 0, own, L4_FullyAccessible);
        const L4_MapItem_t item = L4_MapItem(page_at(own, L4_Readable), free_area);
        answer[13] = item.raw[0], answer[14] = item.raw[1];
        answer[0] = 12 | 2 << 6;
        begin(p.server, do_answer_last, p.client->id.raw);
        CHECK_EQUAL(finish(p.client).value, 6);
        if (kinds.server != Kind::here) {
            CHECK_EQUAL(seen(p.client, free_area), own_word);
            CHECK(faults_on_write(p.client, free_area));
        }
        CHECK_EQUAL(p.client->out.exceptions, 0);
        remove(p);
    }
}

Word do_send_answer(Word client, Word, Word)
{
    L4_LoadMRs(0, 13, answer);
    return L4_IpcSucceeded(L4_Send_Timeout(L4_ThreadId_t{.raw = client}, short_time));
}
/// Only the server answers: not a thread beside it, nor one beside the client, however they try.
void not_by_others()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p || !call_is_caught(p, 7)) return;
        Agent *beside_server = agent_beside(p.server), *beside_client = agent_beside(p.client);
        if (!beside_server || !beside_client) return;
        load_simple_answer(0xBAD);
        CHECK(!ask(beside_server, do_send_answer, p.client->id.raw).value);
        CHECK(!ask(beside_client, do_send_answer, p.client->id.raw).value);
        // These wait for their turn, which does not come, and are queued at the client.
        begin(beside_server, do_answer, p.client->id.raw);
        begin(beside_client, do_answer, p.client->id.raw);
        pause(3000);
        CHECK(!p.client->out.done);
        CHECK(answered(p, 8));
        // With senders queued at it, its next calls go as before.
        Agent *next = agent(kinds.server == Kind::here ? Kind::large : kinds.server);
        if (!next) return;
        const Pair again{p.client, next};
        CHECK(call_is_caught(again, 9));
        CHECK(answered(again, 10));
        remove(beside_server), remove(beside_client), remove(next), remove(p);
    }
}

Word do_flags(Word handler, Word, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    Word flags;
    __asm__ volatile("mov $0xF1A6, %%eax; int $0x80; pushf; pop %0; cld" : "=r"(flags) : : "eax", "memory");
    L4_Set_ExceptionHandler(main_id);
    return flags;
}
/// Flags that are not the user's stay as they are, the others are as answered.
void flags_of_the_answer()
{
    constexpr Word arithmetic = 0x8D5, df = 0x400, always = 2, interrupts = 0x200;
    const Word flags[] = {0, ~0x100u, 0x200, arithmetic, df, 0x3000, 0x4000, 0x20000, 0x40000, 0x180000, 0x10000};
    for (const Kinds kinds : all_kinds)
        for (const Word wanted : flags) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p) return;
            catch_from(p, do_flags);
            CHECK_EQUAL(caught[12], 0xF1A6);
            load_simple_answer(0);
            answer[2] = wanted;
            begin(p.server, do_answer_last, p.client->id.raw);
            CHECK_EQUAL(finish(p.client).value & 0x1E7FFF, (wanted & (arithmetic | df)) | always | interrupts);
            remove(p);
        }
}

/// A client that has NT or AC set keeps them to itself.
Word do_nested_call(Word handler, Word flags, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    Word result = 0xE1;
    __asm__ volatile("pushf; or %1, (%%esp); popf; int $0x80; pushf; andl $~0x44000, (%%esp); popf"
                     : "+a"(result)
                     : "d"(flags)
                     : "memory");
    L4_Set_ExceptionHandler(main_id);
    return result;
}
void flags_of_the_client()
{
    for (const Kinds kinds : all_kinds)
        for (const Word flags : {Word{nested_flag}, Word{alignment_flag}, Word{nested_flag | alignment_flag}}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p) return;
            catch_from(p, do_nested_call, flags);
            CHECK_EQUAL(caught[12], 0xE1);
            CHECK(answered(p, 0xE2));
            remove(p);
        }
}

/// An address that the client does not have is an exception of its own, after which it goes on where it should.
void addresses_out_of_reach()
{
    const Word addresses[] = {kernel_address, 0xFFFFFFFF, 0xF0000000, 0xFFFFF000};
    for (const Kinds kinds : all_kinds)
        for (const Word address : addresses) {
            // An emulator that enforces no limits takes a small space to a neighbour's addresses.
            if (kinds.client != Kind::large && !wish.limits) continue;
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p || !call_is_caught(p, 11)) return;
            load_simple_answer(12);
            const Word back = answer[1];
            answer[1] = address;
            begin(p.server, do_answer, p.client->id.raw);
            finish(p.client, true); // its faults; main has no pages there
            if (p.client->out.faults && !wish.limits) { // it has jumped there
                CHECK_EQUAL(p.client->out.fault_address, address);
                remove(p);
                continue;
            }
            CHECK_EQUAL(caught[0], tag_of_exception);
            CHECK_EQUAL(caught[1], address);
            CHECK_EQUAL(caught[3], protection);
            CHECK_EQUAL(caught[4], 0);
            finish(p.server);
            CHECK_EQUAL(caught[12], 12);
            load_simple_answer(13);
            answer[1] = back;
            begin(p.server, do_answer_last, p.client->id.raw);
            CHECK_EQUAL(finish(p.client).value, 13);
            remove(p);
        }
}
/// Past its slot a small client becomes large.
void address_past_the_slot()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p || !call_is_caught(p, 16)) return;
        load_simple_answer(17);
        answer[1] = beyond_small;
        begin(p.server, do_answer_last, p.client->id.raw);
        finish(p.client, true);
        CHECK_EQUAL(p.client->out.faults, 1);
        CHECK_EQUAL(p.client->out.fault_address, beyond_small);
        CHECK_EQUAL(small_number(p.client), 0);
        remove(p);
    }
}

/// Handlers that are none: the client halts, or waits, and nothing else happens.
void handlers_that_are_none()
{
    Agent *server = agent(Kind::other);
    if (!server) return;
    const L4_ThreadId_t other_version = L4_GlobalId(L4_ThreadNo(server->id), L4_Version(server->id) ^ 1);
    const Word handlers[] = {
        0, ~0u,   L4_anylocalthread.raw, unused_id().raw, other_version.raw, 0xFFFFC001, 0x3FFC0001, server->local.raw,
        1, 0x4001};
    for (const Kind kind : {Kind::large, Kind::small})
        for (const Word handler : handlers) {
            Agent *a = agent(kind);
            if (!a) return;
            caught[0] = 0;
            begin(server, do_catch);
            pause(1000);
            begin(a, do_one_call, handler, 1);
            CHECK(!finish(a, true).done);
            CHECK_EQUAL(caught[0], 0);
            remove(a);
            Agent *b = agent(kind); // the server still serves
            if (!b) return;
            begin(b, do_one_call, server->id.raw, 18);
            finish(server);
            CHECK_EQUAL(caught[12], 18);
            remove(b);
        }
}
/// A thread that handles its own exceptions cannot.
void own_handler()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        begin(a, do_one_call, a->id.raw, 1);
        CHECK(!finish(a, true).done);
        CHECK_EQUAL(a->out.exceptions, 0);
        remove(a);
    }
}

} // namespace

const Test answer_tests[] = {
    {"answer.slots_taken_back", slots_taken_back},
    {"answer.not_from_virtual_8086_mode", not_from_virtual_8086_mode},
    {"answer.other_lengths", other_lengths},
    {"answer.with_an_item", with_an_item},
    {"answer.not_by_others", not_by_others},
    {"answer.flags_of_the_answer", flags_of_the_answer},
    {"answer.flags_of_the_client", flags_of_the_client},
    {"answer.addresses_out_of_reach", addresses_out_of_reach},
    {"answer.address_past_the_slot", address_past_the_slot},
    {"answer.handlers_that_are_none", handlers_that_are_none},
    {"answer.own_handler", own_handler},
    {nullptr, nullptr},
};

} // namespace x2test
