// SPDX-License-Identifier: BSD-2-Clause
// Reflected calls by the kernel's shortest way: whatever client and server hold of the processor, each finds its own
// again, and the server nothing of the client's.
#include "reflected.h"

#include <cobnut/tls.h>
#include <initializer_list>

extern "C" {
x2test::Word x2test_prefixed(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_int_2e(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_int_ff(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_int_0d(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_int_03(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_step_over(x2test::Word, x2test::Word, x2test::Word);
extern const char x2test_prefixed_ip[], x2test_stepped_int[];
}
__asm__(".text\n"
        "x2test_prefixed: mov $5, %eax\n"
        "x2test_prefixed_ip: .byte 0x3E, 0xF3, 0x66, 0xCD, 0x80; ret\n"
        "x2test_int_2e: int $0x2E; ret\n"
        "x2test_int_ff: int $0xFF; ret\n"
        "x2test_int_0d: int $0x0D; ret\n"
        "x2test_int_03: int3; nop; nop; ret\n"
        "x2test_step_over: mov $7, %eax; pushf; orl $0x100, (%esp); popf\n"
        "x2test_stepped_int: int $0x80\n"
        "inc %eax; pushf; andl $~0x100, (%esp); popf; ret\n");

namespace x2test {
namespace {

constexpr Word rounds = 50, own_word = 0x5E1F0000, protection = 13, tag_of_exception = 0xFFB0000C;

/// With a word of its own at free_area, but for agents beside others or main.
bool give_word(Agent *a, Word n)
{
    if (!a) return false;
    arena_word(n) = own_word + n;
    give_page(a, n, free_area, L4_FullyAccessible);
    return true;
}

/// Behind the segment of clients at page 3 of the arena.
void set_client_word(Word value)
{
    x2test_client_word = value;
    arena_word(3) = value;
}

/// Where nothing of it is wrong: `rounds` calls of the client, which the server answers in these ways.
void calls_are_answered(const Pair &p, Word ways, Word segments = 0, Word selector = 0, Word word = 0)
{
    server_wrong = 0;
    served = 0;
    calls[0] = {p.server->id.raw, rounds, selector, segments};
    begin(p.server, do_serve, p.client->id.raw, ways, word);
    pause(1000);
    begin(p.client, do_calls, 0);
    const Outcome &out = finish(p.client);
    CHECK_EQUAL(server_wrong, 0);
    CHECK_EQUAL(out.value, 0);
    CHECK_EQUAL(served, rounds);
    CHECK_EQUAL(out.exceptions + out.faults, 0);
}

/// All registers there and back, in all pairs of spaces, whether the server waits for this client or for any thread;
/// and its segments are its own.
void all_registers()
{
    for (const Kinds kinds : all_kinds)
        for (const Word ways : {Word{0}, Word{by_call}}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p || !give_word(p.client, 1)) return;
            const bool beside = kinds.server == Kind::here;
            if (!beside) give_word(p.server, 2);
            calls_are_answered(p, ways, 0, 0, own_word + (beside ? 1 : 2));
            CHECK_EQUAL((small_number(p.client) != 0), (kinds.client == Kind::small));
            remove(p);
        }
}

/// What the server has in its flags when it answers is nothing to the client.
void flags_of_the_server()
{
    for (const Kinds kinds : all_kinds)
        for (const Word flags :
             {Word{direction_flag}, Word{nested_flag}, Word{alignment_flag}, Word{trap_flag}, Word{all_flags}}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p) return;
            calls_are_answered(p, flags);
            remove(p);
        }
}

/// The client's own segment: it finds it again, and the server finds nothing of it, in whatever register it was.
void own_segment()
{
    for (const Kinds kinds : all_kinds)
        for (const Word segments : {Word{in_gs}, Word{in_fs}, Word{in_gs | in_fs}, Word{in_gs | in_es},
                                    Word{in_gs | in_ds | in_es}, Word{in_ds}, Word{0}}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p || !give_word(p.client, 1)) return;
            const bool beside = kinds.server == Kind::here;
            if (!beside) give_word(p.server, 2);
            Word selector = 0;
            CHECK(Cobnut_TlsControl(p.client->id, arena_page(3), &selector));
            set_client_word(0x715);
            calls_are_answered(p, 0, segments, selector, own_word + (beside ? 1 : 2));
            CHECK_EQUAL((small_number(p.client) != 0), (kinds.client == Kind::small));
            remove(p);
        }
}

/// As its stack, too: it starts at 0 then.
void own_segment_as_stack()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p) return;
        Word selector = 0;
        CHECK(Cobnut_TlsControl(p.client->id, 0, &selector));
        calls_are_answered(p, 0, in_ss, selector);
        remove(p);
    }
}

/// With no segment in its registers, or its UTCB's in all of them, the client leaves the server the right ones.
void other_segments()
{
    constexpr Word null = 0, utcb_selector = 0x2B;
    for (const Kinds kinds : all_kinds)
        for (const Word selector : {null, utcb_selector}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p || !give_word(p.client, 1)) return;
            const bool beside = kinds.server == Kind::here;
            if (!beside) give_word(p.server, 2);
            calls_are_answered(p, 0, in_ds | in_es, selector, own_word + (beside ? 1 : 2));
            remove(p);
        }
}

/// A server with NT set, and a client with a segment of its own: the kernel's return fails, and is made again.
void nested_with_own_segment()
{
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p) return;
        Word selector = 0;
        CHECK(Cobnut_TlsControl(p.client->id, arena_page(3), &selector));
        set_client_word(0x715);
        calls_are_answered(p, nested_flag | trap_flag, in_gs, selector);
        remove(p);
    }
}

/// Several clients of one server, each with a segment of its own or none, in turns.
void several_clients()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *server = agent(kind), *clients[3] = {agent(Kind::large), agent(Kind::small), agent(Kind::large)};
        if (!server || !clients[0] || !clients[1] || !clients[2]) return;
        give_word(server, 2);
        x2test_client_word = 0x7155;
        for (Word i = 0; i < 3; i++) {
            Word selector = 0;
            arena_word(4 + i) = x2test_client_word;
            if (i < 2) CHECK(Cobnut_TlsControl(clients[i]->id, arena_page(4 + i), &selector));
            calls[i] = {server->id.raw, 2000, selector, i == 0 ? in_gs : i == 1 ? in_gs | in_es : Word{0}};
        }
        server_wrong = 0;
        served = 0;
        begin(server, do_serve, 0, 0, own_word + 2);
        pause(1000);
        for (Word i = 0; i < 3; i++) begin(clients[i], do_calls, i);
        for (Agent *client : clients) CHECK_EQUAL(finish(client).value, 0);
        CHECK_EQUAL(server_wrong, 0);
        CHECK_EQUAL(served, 6000);
        for (Agent *client : clients) remove(client);
        remove(server);
    }
}

constinit volatile Word ticks = 0;
/// Wakes up all the time, before all others.
Word do_tick(Word, Word, Word)
{
    for (;;) {
        L4_Sleep(L4_TimePeriod(1000));
        ticks = ticks + 1;
    }
}
[[noreturn]] Word do_count(Word, Word, Word)
{
    for (;;) ticks = ticks + 1;
}

/// Preempted anywhere: by a thread that sleeps and wakes up before all others, and by time slices.
void preempted()
{
    for (const Kinds kinds : {all_kinds[0], all_kinds[3], all_kinds[5]}) {
        const Pair p = pair_of(kinds.client, kinds.server);
        Agent *better = agent(Kind::small), *equal = agent(Kind::large);
        if (!p || !better || !equal) return;
        CHECK(L4_Set_Priority(better->id, 200));
        CHECK(L4_Set_Timeslice(equal->id, L4_TimePeriod(2000), L4_Never));
        CHECK(L4_Set_Timeslice(p.client->id, L4_TimePeriod(2000), L4_Never));
        Word selector = 0;
        CHECK(Cobnut_TlsControl(p.client->id, arena_page(3), &selector));
        set_client_word(0x715);
        server_wrong = 0;
        calls[0] = {p.server->id.raw, 8000, selector, in_gs};
        begin(better, do_tick);
        begin(equal, do_count);
        begin(p.server, do_serve, p.client->id.raw);
        pause(1000);
        begin(p.client, do_calls, 0);
        CHECK_EQUAL(finish(p.client).value, 0);
        CHECK_EQUAL(server_wrong, 0);
        CHECK(ticks > 0);
        remove(p), remove(better), remove(equal);
    }
}

/// A server of lower priority than a ready thread waits for its turn; so does a client.
void better_thread_ready()
{
    for (const bool client_is_worse : {false, true}) {
        const Pair p = pair_of(Kind::small, Kind::small);
        Agent *equal = agent(Kind::large);
        if (!p || !equal) return;
        CHECK(call_is_caught(p, 1));
        if (client_is_worse) {
            CHECK(L4_Set_Priority(p.client->id, 10));
            ticks = 0;
            begin(equal, do_count);
            load_simple_answer(2);
            begin(p.server, do_answer_last, p.client->id.raw);
            pause(20000);
            CHECK(!p.client->out.done && ticks > 0);
            remove(equal);
            CHECK_EQUAL(finish(p.client).value, 2);
        } else {
            CHECK(answered(p, 2));
            CHECK(L4_Set_Priority(p.server->id, 10));
            ticks = 0;
            caught[12] = 0;
            begin(equal, do_count);
            begin(p.client, do_one_call, p.server->id.raw, 3);
            pause(20000);
            CHECK_EQUAL(caught[12], 0);
            CHECK(ticks > 0);
            remove(equal);
        }
        remove(p);
    }
}

/// The coprocessor's registers of the client are neither lost nor the server's, whether that uses them or not.
Word do_calls_with_coprocessor(Word n, Word value, Word)
{
    Word first, second;
    for (Word i = 0; i < 5; i++) {
        const Word filled = value + i;
        __asm__ volatile("fninit; fildl %0; fildl %0" : : "m"(filled));
        if (const Word wrong = do_calls(n, 0, 0)) return wrong;
        __asm__ volatile("fistpl %0; fistpl %1" : "=m"(first), "=m"(second));
        if (first != filled || second != filled) return 0xF0000 + i;
        if (const Word wrong = do_calls(n, 0, 0)) return wrong;
    }
    return 0;
}
void coprocessor()
{
    if (!has_coprocessor()) return;
    for (const Kinds kinds : all_kinds)
        for (const Word ways : {Word{0}, Word{with_coprocessor}}) {
            const Pair p = pair_of(kinds.client, kinds.server);
            if (!p) return;
            Word selector = 0;
            CHECK(Cobnut_TlsControl(p.client->id, arena_page(3), &selector));
            set_client_word(0x715);
            server_wrong = 0;
            calls[0] = {p.server->id.raw, 3, selector, in_gs};
            begin(p.server, do_serve, p.client->id.raw, ways);
            pause(1000);
            begin(p.client, do_calls_with_coprocessor, 0, 1000);
            CHECK_EQUAL(finish(p.client).value, 0);
            CHECK_EQUAL(server_wrong, 0);
            remove(p);
        }
}

constinit volatile Word watched = 0;
Word do_break_on_write(Word control, Word, Word)
{
    __asm__ volatile("mov %0, %%dr0; mov %1, %%dr7" : : "r"(&watched), "r"(control));
    return 0;
}
Word do_call_and_write(Word handler, Word value, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    const Word result = x2test_call(value, 0, 0);
    watched = result;
    L4_Set_ExceptionHandler(main_id);
    return result;
}
/// Breakpoints of the client are not the server's, and are there again after the answer.
void breakpoints()
{
    constexpr Word on_write = 0xD0001, debug_exception = 1;
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p) return;
        ask(p.client, do_break_on_write, on_write);
        catch_from(p, do_call_and_write, 4);
        CHECK_EQUAL(caught[12], 4);
        CHECK_EQUAL(ask(p.server, do_write, reinterpret_cast<Word>(&watched), 1).exceptions, 0);
        load_simple_answer(6);
        begin(p.server, do_answer, p.client->id.raw);
        finish(p.server);
        CHECK_EQUAL(caught[0], tag_of_exception);
        CHECK_EQUAL(caught[3], debug_exception);
        CHECK_EQUAL(watched, 6);
        answer[0] = 12;
        for (Word i = 1; i < 13; i++) answer[i] = caught[i];
        begin(p.server, do_answer_last, p.client->id.raw);
        CHECK_EQUAL(finish(p.client).value, 6);
        remove(p);
    }
}

Word do_step_over(Word handler, Word, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    const Word result = x2test_step_over(0, 0, 0);
    L4_Set_ExceptionHandler(main_id);
    return result;
}
/// A client that is stepped: its call comes with the trap flag, and the next step after the answer.
void single_steps()
{
    const Word call = reinterpret_cast<Word>(x2test_stepped_int);
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p) return;
        catch_from(p, do_step_over);
        CHECK_EQUAL(caught[3], protection);
        CHECK_EQUAL(caught[1], call);
        CHECK(caught[2] & 0x100);
        for (Word step = 0; step < 2; step++) { // after `inc`, after `pushf`
            load_simple_answer(step ? caught[12] : 20);
            if (step) answer[1] = caught[1];
            begin(p.server, do_answer, p.client->id.raw);
            finish(p.server);
            CHECK_EQUAL(caught[3], 1);
            CHECK_EQUAL(caught[1], call + 3 + step);
            CHECK_EQUAL(caught[12], 21);
        }
        load_simple_answer(21);
        answer[1] = caught[1], answer[2] &= ~0x100u;
        begin(p.server, do_answer_last, p.client->id.raw);
        CHECK_EQUAL(finish(p.client).value, 21);
        remove(p);
    }
}

Word do_raise(Word handler, Word function, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    const Word result = reinterpret_cast<Function>(function)(0, 0, 0);
    L4_Set_ExceptionHandler(main_id);
    return result;
}
/// Other numbers, and prefixes: the instruction's own address. A breakpoint is none of these.
void other_interrupts()
{
    const struct {
        Function function;
        Word number, code, length;
    } cases[] = {{x2test_int_2e, 13, 8 * 0x2E + 2, 2},
                 {x2test_int_ff, 13, 8 * 0xFF + 2, 2},
                 {x2test_int_0d, 13, 8 * 0x0D + 2, 2},
                 {x2test_prefixed, 13, 8 * 0x80 + 2, 5},
                 {x2test_int_03, 3, 0, 0}};
    for (const Kinds kinds : all_kinds) {
        const Pair p = pair_of(kinds.client, kinds.server);
        if (!p) return;
        for (const auto &one : cases) {
            caught[3] = 0;
            catch_from(p, do_raise, reinterpret_cast<Word>(one.function));
            CHECK_EQUAL(caught[3], one.number);
            CHECK_EQUAL(caught[4], one.code);
            if (one.length == 5) CHECK_EQUAL(caught[1], reinterpret_cast<Word>(x2test_prefixed_ip));
            load_simple_answer(one.code);
            answer[1] = caught[1] + one.length;
            begin(p.server, do_answer, p.client->id.raw);
            CHECK_EQUAL(finish(p.client).value, one.code);
            // the server waits on: let it come back
            begin(p.client, do_one_call, p.server->id.raw, 1);
            finish(p.server);
            load_simple_answer(1);
            begin(p.server, [](Word client, Word, Word) {
                L4_LoadMRs(0, 13, answer);
                return Word{L4_IpcSucceeded(L4_Send(L4_ThreadId_t{.raw = client}))};
            }, p.client->id.raw);
            CHECK_EQUAL(finish(p.server).value, 1);
            finish(p.client);
        }
        remove(p);
    }
}

} // namespace

const Test reflected_tests[] = {
    {"reflected.all_registers", all_registers},
    {"reflected.flags_of_the_server", flags_of_the_server},
    {"reflected.own_segment", own_segment},
    {"reflected.own_segment_as_stack", own_segment_as_stack},
    {"reflected.other_segments", other_segments},
    {"reflected.nested_with_own_segment", nested_with_own_segment},
    {"reflected.several_clients", several_clients},
    {"reflected.preempted", preempted},
    {"reflected.better_thread_ready", better_thread_ready},
    {"reflected.coprocessor", coprocessor},
    {"reflected.breakpoints", breakpoints},
    {"reflected.single_steps", single_steps},
    {"reflected.other_interrupts", other_interrupts},
    {nullptr, nullptr},
};

} // namespace x2test
