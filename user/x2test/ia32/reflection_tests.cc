// SPDX-License-Identifier: BSD-2-Clause
// What a server for programs that know nothing of this kernel stands on: `int n`, single steps and breakpoints reach
// the exception handler with all registers, and its answer sets all of them (manual 7.5, A.8).
#include "../harness.h"

#include <initializer_list>

extern "C" {
constinit x2test::Word reflect_esp = 0, reflect_out[9] = {}; // EAX ECX EDX EBX ESI EDI EBP ESP EFLAGS
x2test::Word x2test_reflect(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_step(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_int3(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_icebp(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_into(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_bound(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_int57(x2test::Word, x2test::Word, x2test::Word);
extern const char x2test_reflect_ip[], x2test_reflect_on[], x2test_stepped[], x2test_after_int3[];
}
__asm__(
    ".text\n"
    // A system call of another system's: nothing after it is reached unless the answer says where to go on.
    "x2test_reflect: push %ebp; push %ebx; push %esi; push %edi; mov %esp, reflect_esp\n"
    "mov $0xA1, %eax; mov $0xA2, %ecx; mov $0xA3, %edx; mov $0xA4, %ebx; mov $0xA5, %esi; mov $0xA6, %edi\n"
    "mov $0xA7, %ebp; stc; std\n"
    "x2test_reflect_ip: int $0x80; ud2\n"
    "x2test_reflect_on: mov %eax, reflect_out; mov %ecx, reflect_out+4; mov %edx, reflect_out+8\n"
    "mov %ebx, reflect_out+12; mov %esi, reflect_out+16; mov %edi, reflect_out+20; mov %ebp, reflect_out+24\n"
    "mov %esp, reflect_out+28; mov reflect_esp, %esp; pushf; popl reflect_out+32; cld\n"
    "pop %edi; pop %esi; pop %ebx; pop %ebp; mov $1, %eax; ret\n"
    // Each instruction after popf traps, its own address behind it.
    "x2test_step: xor %eax, %eax; pushf; orl $0x100, (%esp); popf\n"
    "inc %eax\n"
    "x2test_stepped: inc %eax; inc %eax; inc %eax; nop; pushf; andl $~0x100, (%esp); popf; ret\n"
    "x2test_int3: int3\n"
    "x2test_after_int3: mov $1, %eax; ret\n"
    "x2test_icebp: .byte 0xF1; ret\n"
    "x2test_into: mov $0x7FFFFFFF, %eax; inc %eax; into; ret\n"
    "x2test_bound: sub $8, %esp; movl $1, (%esp); movl $2, 4(%esp); mov $3, %eax; bound %eax, (%esp); add $8, %esp\n"
    "ret\n"
    "x2test_int57: int $0x57; ret\n");

namespace x2test {
namespace {

constinit Word seen[13] = {}, answer[13] = {};

/// A handler of one exception of `client`.
Word do_handle(Word client, Word, Word)
{
    const L4_ThreadId_t from = {.raw = client};
    const L4_MsgTag_t tag = L4_Receive_Timeout(from, second);
    if (L4_IpcFailed(tag)) return 0;
    L4_StoreMRs(0, 13, seen);
    L4_LoadMRs(0, 13, answer);
    return L4_IpcSucceeded(L4_Send_Timeout(from, second));
}

Word do_reflect(Word handler, Word, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    const Word result = x2test_reflect(0, 0, 0);
    L4_Set_ExceptionHandler(main_id);
    return result;
}

void reflect(Agent *client, Agent *handler)
{
    if (!client || !handler) return;
    const Word flags = 0x7DD5; // all that exist below bit 15: IOPL and NT are not the user's
    const Word rewritten[13] = {12,
                                reinterpret_cast<Word>(x2test_reflect_on),
                                flags & ~0x100u,
                                99,
                                99,
                                0xB6,
                                0xB5,
                                0xB7,
                                0xB0000010,
                                0xB4,
                                0xB3,
                                0xB2,
                                0xB1};
    for (int i = 0; i < 13; i++) answer[i] = rewritten[i];
    begin(handler, do_handle, client->id.raw);
    begin(client, do_reflect, handler->id.raw);
    CHECK_EQUAL(finish(client).value, 1);
    CHECK_EQUAL(finish(handler).value, 1);
    CHECK_EQUAL(client->out.exceptions + client->out.faults, 0);

    CHECK_EQUAL(seen[0], 0xFFB0000C);
    CHECK_EQUAL(seen[1], reinterpret_cast<Word>(x2test_reflect_ip));
    CHECK_EQUAL(seen[2] & 0x3601, 0x0601); // CF, IF, DF; IOPL 0
    CHECK_EQUAL(seen[3], 13);
    CHECK_EQUAL(seen[4], 8 * 0x80 + 2);
    const Word given[] = {0xA6, 0xA5, 0xA7, reflect_esp, 0xA4, 0xA3, 0xA2, 0xA1};
    for (int i = 0; i < 8; i++) CHECK_EQUAL(seen[5 + i], given[i]);
    for (Word i = 0; i < 3; i++) CHECK_EQUAL(reflect_out[i], 0xB1 + i);
    CHECK_EQUAL(reflect_out[3], 0xB4);
    CHECK_EQUAL(reflect_out[4], 0xB5);
    CHECK_EQUAL(reflect_out[5], 0xB6);
    CHECK_EQUAL(reflect_out[6], 0xB7);
    CHECK_EQUAL(reflect_out[7], 0xB0000010);
    CHECK_EQUAL(reflect_out[8] & 0x7FD5, 0x0ED5); // arithmetic flags and DF as answered, IF on, IOPL 0, no NT
}

void all_registers()
{
    for (const Kind client : {Kind::large, Kind::small})
        for (const Kind handler : {Kind::large, Kind::small, Kind::here}) {
            Agent *a = agent(client), *b = agent(handler);
            reflect(a, b);
            if (a) remove(a);
            if (b) remove(b);
        }
}
void handler_beside()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (a) reflect(a, agent_beside(a));
    }
}

/// The shortest answer moves the instruction pointer alone.
void pointer_alone()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_int57);
    CHECK_EQUAL(finish(a, true).exceptions, 1);
    CHECK_EQUAL(a->out.exception[4], 8 * 0x57 + 2);
    a->out.exceptions = 0;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, a->out.exception[1] + 2);
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
    CHECK_EQUAL(finish(a).value, a->out.exception[12]); // EAX as it was
}

/// One trap for each instruction; the trap flag stays while the handler leaves it, and goes with it.
void single_steps()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        begin(a, x2test_step);
        for (Word step = 1; step <= 3; step++) {
            CHECK_EQUAL(finish(a, true).exceptions, 1);
            a->out.exceptions = 0;
            Word *mr = a->out.exception;
            CHECK_EQUAL(mr[3], 1);
            CHECK_EQUAL(mr[4], 0);
            CHECK_EQUAL(mr[1], reinterpret_cast<Word>(x2test_stepped) + step - 1);
            CHECK_EQUAL(mr[12], step);
            CHECK(mr[2] & 0x100);
            mr[0] = 12;
            if (step == 3) mr[2] &= ~0x100u;
            L4_LoadMRs(0, 13, mr);
            CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
        }
        CHECK_EQUAL(finish(a).value, 4);
    }
}

void raises(Function f, Word number, Word code)
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        begin(a, f);
        CHECK_EQUAL(finish(a, true).exceptions, 1);
        CHECK_EQUAL(a->out.exception[0], 0xFFB0000C);
        CHECK_EQUAL(a->out.exception[3], number);
        CHECK_EQUAL(a->out.exception[4], code);
        if (kind == Kind::small) CHECK(small_number(a) != 0);
    }
}
/// int3 with nothing behind it that the debug console knows.
void breakpoint()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_int3);
    CHECK_EQUAL(finish(a, true).exceptions, 1);
    CHECK_EQUAL(a->out.exception[3], 3);
    CHECK_EQUAL(a->out.exception[1], reinterpret_cast<Word>(x2test_after_int3));
    raises(x2test_int3, 3, 0);
}
void other_interrupts()
{
    raises(x2test_icebp, 1, 0);
    raises(x2test_into, 13, 8 * 4 + 2); // by the manual, every INT n is a protection fault
    raises(x2test_bound, 5, 0);
}

Word do_reflect_unheard(Word, Word, Word)
{
    L4_Set_ExceptionHandler(L4_nilthread);
    return x2test_reflect(0, 0, 0);
}
/// A program without a handler stops at its first foreign system call, and no other thread does.
void halted_without_handler()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    begin(a, do_reflect_unheard);
    CHECK(!finish(a, true).done);
    const Word state = L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr);
    CHECK(state == L4_SCHEDRESULT_INACTIVE || state == L4_SCHEDRESULT_DEAD);
    CHECK_EQUAL(ask(b, do_nothing).value, 0);
}

} // namespace

const Test reflection_tests[] = {
    {"reflection.all_registers", all_registers},
    {"reflection.handler_beside", handler_beside},
    {"reflection.pointer_alone", pointer_alone},
    {"reflection.single_steps", single_steps},
    {"reflection.breakpoint", breakpoint},
    {"reflection.other_interrupts", other_interrupts},
    {"reflection.halted_without_handler", halted_without_handler},
    {nullptr, nullptr},
};

} // namespace x2test
