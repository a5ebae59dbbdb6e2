// SPDX-License-Identifier: BSD-2-Clause
// Another system's calls by sysenter, from spaces that are controlled (docs/controlled-spaces.md): as by `int`, but for
// what sysenter does not tell the kernel; and only there.
#include "reflected.h"

#include <cobnut/control.h>
#include <cobnut/tls.h>
#include <initializer_list>

extern "C" {
/// As x2test_gate_return, but returns 0xE15E.
extern const char x2test_gate_elsewhere[];
}
__asm__(".text\n"
        ".globl x2test_gate, x2test_gate_return, x2test_gate_elsewhere, x2test_quick, x2test_quick_lret\n"
        ".balign 256\n"
        "x2test_gate: push %ebp; push %ebx; push %esi; push %edi\n"
        "mov 20(%esp), %eax; test %eax, %eax; jz 9f; mov 24(%esp), %edx; pushf; or %edx, (%esp)\n"
        "mov $0xA2, %ecx; mov $0xA3, %edx; mov $0xA4, %ebx; mov $0xA5, %esi; mov $0xA6, %edi; lea 4(%esp), %ebp\n"
        "popf; sysenter\n"
        "x2test_gate_return: cmp $0x1A2, %ecx; jne 8f; cmp $0x1A3, %edx; jne 8f; cmp $0x1A4, %ebx; jne 8f\n"
        "cmp $0x1A5, %esi; jne 8f; cmp $0x1A6, %edi; jne 8f; cmp $0x1A7, %ebp; je 9f\n"
        "8: mov $0xBAD, %eax\n"
        "9: pushf; andl $~0x44500, (%esp); popf; pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"
        "x2test_gate_elsewhere: mov $0xE15E, %eax; jmp 9b\n"

        "x2test_quick: push %ebp; push %ebx; push %esi; push %edi\n"
        "mov 20(%esp), %eax; test %eax, %eax; jz 9b; mov 24(%esp), %ecx\n"
        "mov $0xA3, %edx; mov $0xA4, %ebx; mov $0xA5, %esi; mov $0xA6, %edi; push %cs; call 1f\n"
        "cmp $0x1A4, %ebx; jne 8b; cmp $0x1A5, %esi; jne 8b; cmp $0x1A6, %edi; jne 8b; cmp $0x1A7, %ebp; jne 8b\n"
        "mov %ds, %ecx; mov %ss, %edx; cmp %ecx, %edx; je 9b; jmp 8b\n"
        "1: mov %esp, %ebp; test %ecx, %ecx; mov $0xA2, %ecx; jnz 2f; sysenter\n"
        "x2test_quick_lret: lret\n"
        "2: int $0x80\n");

namespace x2test {
namespace {

constexpr Word exception_tag = 0xFFB0000C, protection = 13, changed = 0x100, elsewhere = 0xE15E;
constexpr Word no_partner = 2 << 1, kernel_address = 0xF0001000;
constexpr Word all_eax[] = {1, 120, cobnut::most_sysenter_call};

Word do_gate(Word handler, Word eax, Word flags)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    const Word result = x2test_gate(eax, flags, 0);
    L4_Set_ExceptionHandler(main_id);
    return result;
}

/// Client and server in spaces of their own; the client's is controlled and has no redirector. Null after fail().
Pair gate_pair(const Kinds &kinds)
{
    const Pair p = pair_of(kinds.client, kinds.server);
    if (!p) return {};
    ask(p.client, do_gate, main_id.raw, 0); // a confined client cannot get it from main
    return in_controlled_space(p);
}

/// The message of a call by x2test_gate(eax). False after fail().
bool is_call(Word eax)
{
    const Word wanted[] = {exception_tag, 0,    0x202,     protection, cobnut::sysenter_call,
                           0xA6,          0xA5, caught[8], caught[8],  0xA4,
                           0xA3,          0xA2, eax};
    for (Word i = 0; i < 13; i++)
        if (caught[i] != wanted[i]) return fail("word %u is %x, not %x", i, caught[i], wanted[i]), false;
    return true;
}

void load_gate_answer(Word eax)
{
    for (Word i = 1; i < 13; i++) answer[i] = caught[i];
    for (const Word i : {5, 6, 9, 10, 11}) answer[i] += changed;
    answer[0] = 12;
    answer[1] = reinterpret_cast<Word>(x2test_gate_return);
    answer[7] = 0x1A7;
    answer[12] = eax;
}

/// Such a pair in its call with EAX 7, and the answer 8 to it loaded. Null after fail().
Pair called(const Kinds &kinds)
{
    const Pair p = gate_pair(kinds);
    if (!p) return {};
    catch_from(p, do_gate, 7);
    load_gate_answer(8);
    return p;
}

/// All registers there and back, whatever is in the flags, where the server is the redirector and where there is none.
void registers()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart)
        for (const Word flags : {Word{0}, Word{1}, Word{nested_flag}, Word{trap_flag}, Word{all_flags}}) {
            const Pair p = gate_pair(kinds);
            if (!p) return;
            for (const Word eax : all_eax) {
                if (eax != 1) CHECK(redirect(p.client, p.server->id));
                catch_from(p, do_gate, eax, flags);
                CHECK(is_call(eax));
                load_gate_answer(eax + 1);
                CHECK(free_client_comes_back(p, eax + 1));
                remove(p.server);
                const_cast<Agent *&>(p.server) = agent(kinds.server);
                if (!p.server) return;
            }
            CHECK_EQUAL((small_number(p.client) != 0), (kinds.client == Kind::small));
            remove(p);
        }
}

Word do_quick(Word handler, Word eax, Word by_int)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    const Word result = x2test_quick(eax, by_int, 0);
    L4_Set_ExceptionHandler(main_id);
    return result;
}

/// The lret takes what is on the client's stack, without iret if the kernel can.
void load_quick_answer(Word eax)
{
    load_gate_answer(eax);
    answer[1] = reinterpret_cast<Word>(x2test_quick_lret);
    answer[4] = cobnut::sysenter_answer;
}

/// As called(), with EAX 9 and such an answer, 10.
Pair called_quickly(const Kinds &kinds)
{
    const Pair p = gate_pair(kinds);
    if (!p) return {};
    ask(p.client, do_quick, main_id.raw, 0);
    catch_from(p, do_quick, 9);
    load_quick_answer(10);
    return p;
}

[[noreturn]] Word do_count(Word, Word, Word)
{
    for (volatile Word counter = 0;;) counter = counter + 1;
}
/// It comes back from a call of either kind, also where the kernel has no sysenter, or if another thread runs first.
void quick_answers()
{
    for (const Kinds &kinds : kinds_apart)
        for (const Word by_int : {Word{0}, Word{1}})
            for (const bool busy : {false, true}) {
                if (!by_int && !has_gate()) continue;
                const Pair p = gate_pair(kinds);
                Agent *other = agent(kinds.server);
                if (!p || !other) return;
                ask(p.client, do_quick, main_id.raw, 0);
                CHECK(redirect(p.client, p.server->id));
                catch_from(p, do_quick, 9, by_int);
                CHECK_EQUAL(caught[12], 9);
                load_quick_answer(10);
                if (busy) begin(other, do_count);
                CHECK(free_client_comes_back(p, 10));
                CHECK_EQUAL((small_number(p.client) != 0), (kinds.client == Kind::small));
                remove(p), remove(other);
            }
}

/// What lret takes where the client has no memory: its fault, past its slot as anywhere; or where no user has any.
void lret_out_of_reach()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart) {
        const Pair p = called_quickly(kinds);
        if (!p) return;
        answer[8] = beyond_small;
        begin(p.server, do_answer_last, p.client->id.raw);
        finish(p.client, true);
        CHECK_EQUAL(p.client->out.fault_address & ~7, beyond_small); // an emulator's lret takes CS first
        CHECK_EQUAL(small_number(p.client), 0);
        remove(p);
        if (!wish.limits) continue;
        const Pair q = called_quickly(kinds);
        if (!q) return;
        answer[8] = kernel_address;
        begin(q.server, do_answer, q.client->id.raw);
        finish(q.server);
        constexpr Word stack_fault = 12;
        CHECK_EQUAL(caught[3], stack_fault);
        CHECK_EQUAL(caught[8], kernel_address);
        remove(q);
    }
}

/// The same where the server does not wait, and so the slow way; and another thread runs at once, with its own flags.
void server_is_busy()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart)
        for (const Word flags : {Word{0}, Word{nested_flag}, Word{all_flags}}) {
            const Pair p = gate_pair(kinds);
            if (!p) return;
            Agent *other = agent(kinds.server);
            if (!other) return;
            CHECK(redirect(p.client, p.server->id));
            for (const Agent *a : {p.client, p.server}) CHECK(L4_Set_Priority(a->id, 150));
            begin(other, do_count);
            begin(p.client, do_gate, p.server->id.raw, 7, flags);
            pause(1000);
            ask(p.server, do_catch);
            CHECK(is_call(7));
            load_gate_answer(8);
            CHECK(free_client_comes_back(p, 8));
            remove(p), remove(other);
        }
}

/// The client goes on where the answer says, with the flags that are there.
void answered_elsewhere()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart) {
        const Pair p = called(kinds);
        if (!p) return;
        answer[1] = reinterpret_cast<Word>(x2test_gate_elsewhere);
        CHECK(free_client_comes_back(p, elsewhere));
        remove(p);
    }
}

/// A trap flag in the answer: after one instruction of the client's.
void answered_with_a_step()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart) {
        const Pair p = called(kinds);
        if (!p) return;
        answer[1] = reinterpret_cast<Word>(x2test_gate_elsewhere);
        answer[2] |= trap_flag;
        begin(p.server, do_answer, p.client->id.raw);
        finish(p.server);
        CHECK_EQUAL(caught[3], 1);
        CHECK_EQUAL(caught[1], reinterpret_cast<Word>(x2test_gate_elsewhere) + 5);
        CHECK_EQUAL(caught[12], elsewhere);
        for (Word i = 1; i < 13; i++) answer[i] = caught[i];
        answer[2] &= ~Word{trap_flag};
        CHECK(free_client_comes_back(p, elsewhere));
        remove(p);
    }
}

/// Past its slot a small client becomes large; where no user is, it has an exception of its own.
void answered_out_of_reach()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart) {
        const Pair p = called(kinds);
        if (!p) return;
        answer[1] = beyond_small;
        begin(p.server, do_answer_last, p.client->id.raw);
        finish(p.client, true);
        CHECK_EQUAL(p.client->out.fault_address, beyond_small);
        CHECK_EQUAL(small_number(p.client), 0);
        remove(p);
        // An emulator that enforces no limits takes a small space to a neighbour's addresses.
        if (kinds.client != Kind::large && !wish.limits) continue;
        const Pair q = called(kinds);
        if (!q) return;
        answer[1] = kernel_address;
        begin(q.server, do_answer, q.client->id.raw);
        finish(q.client, true);
        if (q.client->out.faults && !wish.limits) { // it has jumped there
            CHECK_EQUAL(q.client->out.fault_address, kernel_address);
            remove(q);
            continue;
        }
        finish(q.server);
        CHECK_EQUAL(caught[1], kernel_address);
        CHECK_EQUAL(caught[3], protection);
        CHECK_EQUAL(caught[4], 0);
        remove(q);
    }
}

constinit volatile Word watched = 0;
/// With a breakpoint in force, after which it goes the slow way, too.
Word do_gate_and_write(Word handler, Word eax, Word)
{
    constexpr Word on_write = 0xD0001;
    __asm__ volatile("mov %0, %%dr0; mov %1, %%dr7" : : "r"(&watched), "r"(on_write));
    const Word result = do_gate(handler, eax, 0);
    if (eax) watched = result;
    return result;
}
void breakpoints()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart) {
        const Pair p = gate_pair(kinds);
        if (!p) return;
        ask(p.client, do_gate_and_write, main_id.raw, 0);
        catch_from(p, do_gate_and_write, 4);
        CHECK(is_call(4));
        CHECK_EQUAL(ask(p.server, do_write, reinterpret_cast<Word>(&watched), 1).exceptions, 0);
        load_gate_answer(6);
        begin(p.server, do_answer_last, p.client->id.raw);
        const Outcome &out = finish(p.client, true);
        CHECK_EQUAL(watched, 6);
        CHECK_EQUAL(out.exceptions, 1);
        CHECK_EQUAL(out.exception[3], 1);
        remove(p);
    }
}

/// The client's own segment: the server does not find it, and the client does again, also where its slot has changed.
Word do_gate_with_segment(Word handler, Word eax, Word selector)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    Word found, standard;
    __asm__ volatile("mov %%gs, %0; mov %1, %%gs" : "=&r"(standard) : "r"(selector));
    const Word result = x2test_gate(eax, 0, 0);
    __asm__ volatile("mov %%gs:0, %0; mov %1, %%gs" : "=&r"(found) : "r"(standard));
    L4_Set_ExceptionHandler(main_id);
    return found == 0x715 ? result : 0xBAD5E6;
}
void own_segment()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart)
        for (const bool becomes_large : {false, true}) {
            Word selector = 0;
            const Pair p = with_segment(gate_pair(kinds), selector);
            if (!p) return;
            arena_word(3) = 0x715;
            CHECK_EQUAL(ask(p.client, do_gate_with_segment, main_id.raw, 0, selector).value, 0);
            CHECK(redirect(p.client, p.server->id));
            begin(p.server, do_catch);
            pause(1000);
            begin(p.client, do_gate_with_segment, p.server->id.raw, 7, selector);
            finish(p.server);
            CHECK(is_call(7));
            if (becomes_large) CHECK(make_large(p.client));
            load_gate_answer(8);
            CHECK(free_client_comes_back(p, 8));
            remove(p);
        }
}

Word do_call_with_segment(Word handler, Word selector, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    __asm__ volatile("mov %0, %%gs; mov $9, %%eax; int $0x80" : : "r"(selector) : "eax");
    return 0;
}
constinit Word astray[2] = {};
/// What lret takes is no address of the client's, or no code, while it has its segment in GS: a protection fault as
/// without one, where the stub would have its lret.
void lret_astray_with_segment()
{
    if (!has_gate()) return;
    constexpr Word own_code = 0x1B, no_code = 0x33;
    for (const Kinds &kinds : kinds_apart)
        for (const Word code : {own_code, no_code}) {
            if (code == own_code && !wish.limits) continue;
            Word selector = 0;
            const Pair p = with_segment(gate_pair(kinds), selector);
            if (!p) return;
            astray[0] = kernel_address, astray[1] = code;
            ask(p.client, do_read, reinterpret_cast<Word>(do_call_with_segment));
            ask(p.client, do_read, reinterpret_cast<Word>(astray));
            CHECK(redirect(p.client, p.server->id));
            catch_from(p, do_call_with_segment, selector);
            CHECK_EQUAL(caught[12], 9);
            load_quick_answer(10);
            answer[8] = reinterpret_cast<Word>(astray);
            begin(p.server, do_answer, p.client->id.raw);
            finish(p.server);
            CHECK_EQUAL(caught[3], protection);
            CHECK_EQUAL(caught[4], code == no_code ? no_code & ~7 : 0);
            CHECK_EQUAL(caught[8], answer[8]);
            // by iret, which the slow way takes, to the client's own lret
            CHECK(caught[1] - kip_area < page_size || caught[1] == answer[1]);
            remove(p);
        }
}

/// The client halts, and no thread is told.
void no_handler()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart) {
        const Pair p = gate_pair(kinds);
        if (!p) return;
        caught[12] = 0;
        begin(p.server, do_catch);
        pause(1000);
        begin(p.client, do_gate, L4_nilthread.raw, 7);
        pause(1000);
        CHECK_EQUAL(L4_Schedule(p.client->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_INACTIVE);
        CHECK_EQUAL(caught[12], 0);
        remove(p);
    }
}

constinit volatile Word heard = 0;
Word do_hear(Word, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    heard = 1;
    return 0;
}
/// A confined client reaches its redirector, whatever handler it names.
void confined()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart) {
        const Pair p = gate_pair(kinds);
        Agent *other = agent(Kind::other);
        if (!p || !other) return;
        CHECK(redirect(p.client, p.server->id));
        begin(other, do_hear);
        begin(p.server, do_catch);
        pause(1000);
        heard = 0;
        caught[12] = 0;
        begin(p.client, do_gate, other->id.raw, 7);
        finish(p.server);
        CHECK_EQUAL(caught[4], cobnut::sysenter_call);
        CHECK_EQUAL(caught[12], 7);
        pause(1000);
        CHECK(!heard);
        remove(p), remove(other);
    }
}

/// ErrorCode of an empty message to it.
Word do_send(Word to, Word handler, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    L4_Set_MsgTag(L4_Niltag);
    const L4_MsgTag_t tag = L4_Send_Timeout(L4_ThreadId_t{.raw = to}, short_time);
    L4_Set_ExceptionHandler(main_id);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}
/// Elsewhere, and with other numbers, it is an IPC to a thread that does not exist.
void others_are_ipc()
{
    if (!has_gate()) return;
    for (const Kinds &kinds : kinds_apart) {
        const Pair p = gate_pair(kinds);
        if (!p) return;
        begin(p.server, do_catch);
        pause(1000);
        caught[12] = 0;
        const Word server = p.server->id.raw;
        for (const Word to : {Word{cobnut::most_sysenter_call + 1}, unused_id().raw})
            CHECK_EQUAL(ask(p.client, do_send, to, server).value, no_partner);
        CHECK(cobnut::set_controlled(p.client->id, false));
        for (const Word to : {Word{2}, Word{120}, Word{cobnut::most_sysenter_call}})
            CHECK_EQUAL(ask(p.client, do_send, to, server).value, no_partner);
        CHECK_EQUAL(caught[12], 0);
        CHECK(cobnut::set_controlled(p.client->id, true));
        begin(p.client, do_send, 120, server);
        finish(p.server);
        CHECK_EQUAL(caught[4], cobnut::sysenter_call);
        CHECK_EQUAL(caught[12], 120);
        remove(p);
    }
}

/// Read from outside and sent elsewhere, in the call.
void controlled()
{
    if (!has_gate()) return;
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        ask(a, do_gate, main_id.raw, 0);
        CHECK(redirect(a, main_id) && cobnut::set_controlled(a->id, true));
        begin(a, do_gate, main_id.raw, 7);
        pause(1000);
        cobnut::AllRegisters r;
        CHECK_EQUAL(cobnut::control_thread(a->id, cobnut::control_halt | cobnut::control_read, nullptr, &r), 4);
        CHECK(r.eip == 0 && r.eax == 7 && r.ecx == 0xA2 && r.edx == 0xA3 && r.ebx == 0xA4 && r.esi == 0xA5);
        CHECK(r.edi == 0xA6 && r.ebp == r.esp && r.eflags == 0x202);
        r.eip = reinterpret_cast<Word>(x2test_gate_elsewhere);
        cobnut::control_thread(a->id, cobnut::control_resume | cobnut::control_write | cobnut::control_cancel, &r);
        CHECK_EQUAL(finish(a).value, elsewhere);
        remove(a);
    }
}

} // namespace

const Test gate_tests[] = {
    {"gate.registers", registers},
    {"gate.quick_answers", quick_answers},
    {"gate.lret_out_of_reach", lret_out_of_reach},
    {"gate.server_is_busy", server_is_busy},
    {"gate.answered_elsewhere", answered_elsewhere},
    {"gate.answered_with_a_step", answered_with_a_step},
    {"gate.answered_out_of_reach", answered_out_of_reach},
    {"gate.breakpoints", breakpoints},
    {"gate.own_segment", own_segment},
    {"gate.lret_astray_with_segment", lret_astray_with_segment},
    {"gate.no_handler", no_handler},
    {"gate.confined", confined},
    {"gate.others_are_ipc", others_are_ipc},
    {"gate.controlled", controlled},
    {nullptr, nullptr},
};

} // namespace x2test
