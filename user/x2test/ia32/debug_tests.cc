// SPDX-License-Identifier: BSD-2-Clause
// Debug registers (manual A.9): each thread has its own, breakpoints of its own space, and a debug exception when it
// meets one.
#include "../harness.h"

#include <initializer_list>

extern "C" {
x2test::Word x2test_debugged(x2test::Word, x2test::Word, x2test::Word);
extern const char x2test_debugged_ip[];
}
__asm__(".text\n"
        "x2test_debugged: mov $41, %eax\n"
        "x2test_debugged_ip: inc %eax; ret\n");

namespace x2test {
namespace {

constexpr Word resume_flag = 0x10000, fresh_status = 0xFFFF0FF0, fresh_control = 0x400;
// RW and LEN, the last three of four bytes
constexpr Word on_execution = 0, on_write = 0xD, on_ports = 0xE, on_access = 0xF;
constexpr Word debug_exception = 1;

constexpr Word enabled(Word kind, Word n = 0) { return 1u << 2 * n | kind << (16 + 4 * n); }

constinit volatile Word watched = 0;
Word watched_address() { return reinterpret_cast<Word>(&watched); }

#define MOVE_TO(n)                                                                                                     \
    case n: __asm__ volatile("mov %0, %%dr" #n : : "r"(value)); break
#define MOVE_FROM(n)                                                                                                   \
    case n: __asm__ volatile("mov %%dr" #n ", %0" : "=r"(value)); break
void set(Word number, Word value)
{
    switch (number) {
        MOVE_TO(0);
        MOVE_TO(1);
        MOVE_TO(2);
        MOVE_TO(3);
        MOVE_TO(6);
        MOVE_TO(7);
    }
}
Word get(Word number)
{
    Word value = 0;
    switch (number) {
        MOVE_FROM(0);
        MOVE_FROM(1);
        MOVE_FROM(2);
        MOVE_FROM(3);
        MOVE_FROM(6);
        MOVE_FROM(7);
    }
    return value;
}

Word do_set(Word number, Word value, Word) { return set(number, value), 0; }
Word do_get(Word number, Word, Word) { return get(number); }
Word do_watch(Word address, Word control, Word) { return set(0, address), set(6, 0), set(7, control), 0; }
Word do_touch(Word value, Word, Word)
{
    if (value) watched = value;
    return watched;
}

void each_thread_has_its_own()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind), *mate = a ? agent_beside(a) : nullptr;
        if (!a || !mate) return;
        for (Word n = 0; n < 4; n++) ask(a, do_set, n, 0x1000 * n + 1), ask(mate, do_set, n, 0x2000 * n + 2);
        ask(a, do_set, 7, enabled(on_write, 3));
        for (Word n = 0; n < 4; n++) {
            CHECK_EQUAL(ask(a, do_get, n).value, 0x1000 * n + 1);
            CHECK_EQUAL(ask(mate, do_get, n).value, 0x2000 * n + 2);
        }
        CHECK_EQUAL(ask(a, do_get, 7).value, enabled(on_write, 3) | fresh_control);
        CHECK_EQUAL(ask(mate, do_get, 7).value, fresh_control);
        CHECK_EQUAL(ask(mate, do_get, 6).value, fresh_status);
    }
}

/// No global breakpoints, and no watch over the registers themselves.
void what_cannot_be_set()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    ask(a, do_set, 0, 0xFFFFFFFF);
    ask(a, do_set, 7, 0x20AA);
    CHECK_EQUAL(ask(a, do_get, 7).value, fresh_control);
    ask(a, do_set, 6, 0xFFFFFFFF);
    CHECK_EQUAL(ask(a, do_get, 6).value, fresh_status | 0xE00F);
}

Word do_by_stack_pointer(Word, Word, Word)
{
    Word moved, real;
    __asm__ volatile("mov %%esp, %%dr2; mov %%dr2, %0; mov %%esp, %1" : "=&r"(moved), "=&r"(real));
    return moved - real;
}
void by_the_stack_pointer()
{
    Agent *a = agent(Kind::other);
    if (a) CHECK_EQUAL(ask(a, do_by_stack_pointer).value, 0);
}

/// Expects the exception, and lets the agent go on.
bool meets(Agent *a, Function f, Word argument, Word ip = 0)
{
    begin(a, f, argument);
    if (finish(a, true).exceptions != 1 || a->out.exception[3] != debug_exception) return false;
    if (ip && a->out.exception[1] != ip) return false;
    a->out.exceptions = 0;
    Word *mr = a->out.exception;
    mr[0] = 2;
    mr[2] |= ip ? resume_flag : 0;
    L4_LoadMRs(0, 3, mr);
    return L4_IpcSucceeded(L4_Send_Timeout(a->id, second));
}

/// Before the instruction, which is at an address of the space; the answer's resume flag passes it once.
void on_an_instruction()
{
    const Word ip = reinterpret_cast<Word>(x2test_debugged_ip);
    for (const Kind kind : {Kind::large, Kind::small}) {
        if (kind == Kind::small && !wish.limits) continue;
        Agent *a = agent(kind);
        if (!a) return;
        ask(a, do_watch, ip, enabled(on_execution));
        for (int i = 0; i < 2; i++) {
            CHECK(meets(a, x2test_debugged, 0, ip));
            CHECK_EQUAL(finish(a).value, 42);
            CHECK_EQUAL(ask(a, do_get, 6).value & 0xE00F, 1);
        }
        ask(a, do_set, 7, 0);
        CHECK_EQUAL(ask(a, x2test_debugged).value, 42);
        CHECK_EQUAL(a->out.exceptions, 0);
    }
}

void on_data()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        ask(a, do_touch, 1);
        ask(a, do_watch, watched_address(), enabled(on_write));
        CHECK_EQUAL(ask(a, do_touch, 0).exceptions, 0);
        CHECK(meets(a, do_touch, 7));
        CHECK_EQUAL(finish(a).value, 7);
        CHECK_EQUAL(watched, 7);
        ask(a, do_watch, watched_address(), enabled(on_access));
        CHECK(meets(a, do_touch, 0));
        CHECK_EQUAL(finish(a).value, 7);
        CHECK_EQUAL(ask(a, do_get, 6).value & 0xE00F, 1);
        ask(a, do_watch, watched_address(), enabled(on_ports));
        CHECK_EQUAL(ask(a, do_touch, 3).exceptions, 0);
    }
}

/// Others go past, in the same space and at the same address of another, and leave the breakpoint as it is.
void others_do_not_stop()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind), *mate = a ? agent_beside(a) : nullptr, *other = agent(kind);
        if (!a || !mate || !other) return;
        ask(a, do_watch, watched_address(), enabled(on_write));
        for (Agent *each : {mate, other}) CHECK_EQUAL(ask(each, do_touch, 5).exceptions, 0);
        watched = 6;
        CHECK(meets(a, do_touch, 8));
        CHECK_EQUAL(finish(a).value, 8);
    }
}

Word do_calls(Word, Word, Word)
{
    for (int i = 0; i < 3; i++) {
        L4_Yield();
        L4_Sleep(L4_TimePeriod(1000));
        L4_KernelInterface(nullptr, nullptr, nullptr);
        watched = 1;
    }
    return 77;
}
/// What lies beyond a space is out of its reach.
void not_in_the_kernel()
{
    constexpr Word all = 0x55;
    constexpr Word places[] = {0xF0100000, 0xF0101000, 0xF3FFF000, 0xFFC00000,
                               0xFFC00023, 0xFFFFFFFC, 0xD0000000, 0xD1000000};
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        for (Word place : places)
            for (Word kinds : {0u, 0xFFFF0000u}) {
                for (Word n = 0; n < 4; n++) ask(a, do_set, n, place + 4 * n);
                ask(a, do_set, 7, all | kinds);
                CHECK_EQUAL(ask(a, do_calls).value, 77);
                CHECK_EQUAL(a->out.exceptions, 0);
            }
    }
}

constinit volatile Word selector = 0;
/// A load of SS puts the exception for its own access off until behind the next instruction, which is a gate into the
/// kernel: ThreadSwitch or IPC, without a partner both, by the numbers in kernel/ia32/layout.hpp.
Word do_enter_with_exception(Word by_ipc, Word, Word)
{
    Word ss, edi = 0x12345678;
    __asm__ volatile("mov %%ss, %0" : "=r"(ss));
    selector = ss;
    set(0, reinterpret_cast<Word>(&selector));
    set(7, enabled(on_access));
    if (by_ipc)
        __asm__ volatile("push %%ebp; movw %0, %%ss; int $0x30; pop %%ebp"
                         :
                         : "m"(selector), "a"(0), "d"(0), "c"(0), "S"(0)
                         : "ebx", "edi", "memory", "cc");
    else __asm__ volatile("movw %1, %%ss; int $0x31" : "+D"(edi) : "m"(selector), "a"(0) : "memory", "cc");
    set(7, 0);
    return edi;
}
/// Whether it comes before, in the kernel, where it is dropped, or behind, is the processor's affair.
void behind_a_gate()
{
    for (const Kind kind : {Kind::large, Kind::small})
        for (const Word by_ipc : {0u, 1u}) {
            Agent *a = agent(kind);
            if (!a) return;
            begin(a, do_enter_with_exception, by_ipc);
            if (finish(a, true).exceptions) {
                CHECK_EQUAL(a->out.exception[3], debug_exception);
                L4_Set_MsgTag(L4_Niltag);
                CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
                finish(a);
            }
            CHECK_EQUAL(a->out.value, 0x12345678);
        }
}

} // namespace

const Test debug_tests[] = {
    {"debug.each_thread_has_its_own", each_thread_has_its_own},
    {"debug.what_cannot_be_set", what_cannot_be_set},
    {"debug.by_the_stack_pointer", by_the_stack_pointer},
    {"debug.on_an_instruction", on_an_instruction},
    {"debug.on_data", on_data},
    {"debug.others_do_not_stop", others_do_not_stop},
    {"debug.not_in_the_kernel", not_in_the_kernel},
    {"debug.behind_a_gate", behind_a_gate},
    {nullptr, nullptr},
};

} // namespace x2test
