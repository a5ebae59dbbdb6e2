// SPDX-License-Identifier: BSD-2-Clause
// The exception protocol (manual 7.5, A.8): twelve words to the handler, registers rewritten by its answer.
#include "../harness.h"

#include <initializer_list>

// One faulting instruction each, at known addresses; cdecl functions that return EAX.
extern "C" {
x2test::Word x2test_divide(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_int80(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_undefined(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_halt(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_cli(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_write_cr3(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_read_msr(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_write_msr(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_bound(x2test::Word, x2test::Word, x2test::Word);
extern const char x2test_divide_ip[];
}
__asm__(".text\n"
        "x2test_divide: push %ebx; push %esi; push %edi; push %ebp\n"
        "mov $0x11, %eax; mov $0x22, %edx; xor %ecx, %ecx; mov $0x44, %ebx; mov $0x55, %esi; mov $0x66, %edi\n"
        "mov $0x77, %ebp\n"
        "x2test_divide_ip: div %ecx\n"
        "add %ebx, %eax; add %ecx, %eax; add %edx, %eax; add %esi, %eax; add %edi, %eax; add %ebp, %eax\n"
        "pop %ebp; pop %edi; pop %esi; pop %ebx; ret\n"
        "x2test_int80: int $0x80; ret\n"
        "x2test_undefined: ud2; ret\n"
        "x2test_halt: hlt; mov $1, %eax; ret\n"
        "x2test_cli: cli; mov $1, %eax; ret\n"
        "x2test_write_cr3: mov %eax, %cr3; ret\n"
        "x2test_read_msr: mov 4(%esp), %ecx; rdmsr; ret\n"
        "x2test_write_msr: mov 4(%esp), %ecx; mov 8(%esp), %eax; mov 12(%esp), %edx; wrmsr; ret\n"
        "x2test_bound: mov $5, %eax; bound %eax, x2test_bounds; ret\n"
        "x2test_bounds: .long 6, 9\n");

namespace x2test {
namespace {

/// Runs f in an agent and checks that it raises this exception with this error code.
void raises(Kind kind, Function f, Word number, Word code)
{
    Agent *a = agent(kind);
    if (!a) return;
    begin(a, f);
    const Outcome &out = finish(a, true);
    CHECK_EQUAL(out.exceptions, 1);
    CHECK_EQUAL(out.exception[0], 0xFFB0000C);
    CHECK_EQUAL(out.exception[3], number);
    CHECK_EQUAL(out.exception[4], code);
    if (kind == Kind::small) CHECK(small_number(a) != 0);
}

void message()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_divide);
    const Outcome &out = finish(a, true);
    const Word *mr = out.exception;
    CHECK_EQUAL(out.exceptions, 1);
    CHECK_EQUAL(mr[0], 0xFFB0000C);
    CHECK_EQUAL(mr[1], reinterpret_cast<Word>(x2test_divide_ip));
    CHECK(mr[2] & 0x200);
    CHECK(mr[3] == 0 && mr[4] == 0);
    CHECK(mr[5] == 0x66 && mr[6] == 0x55 && mr[7] == 0x77 && mr[9] == 0x44);
    CHECK(mr[10] == 0x22 && mr[11] == 0 && mr[12] == 0x11);
    CHECK(mr[8] < stack_of(a) && mr[8] > stack_of(a) - page_size);
}

Word do_raise_with_full_utcb(Word, Word, Word)
{
    for (int i = 13; i < 64; i++) L4_LoadMR(i, 0xAB000000u + static_cast<Word>(i));
    for (int i = 1; i < 33; i++) L4_LoadBR(i, 0xBC000000u + static_cast<Word>(i) * 16);
    L4_LoadBR(0, 0x10);
    L4_Set_VirtualSender(L4_ThreadId_t{.raw = 0x1234567});
    L4_Set_XferTimeouts(0x11112222);
    L4_Set_UserDefinedHandle(0x33334444);
    Word message[13];
    for (int i = 0; i < 13; i++) L4_LoadMR(i, 0xCD000000u + static_cast<Word>(i));
    __asm__ volatile("int $0x80" : : : "memory");
    L4_StoreMRs(0, 13, message);
    Word wrong = 0, w;
    for (int i = 0; i < 13; i++)
        if (message[i] != 0xCD000000u + static_cast<Word>(i)) wrong |= 0x100u + static_cast<Word>(i);
    for (int i = 13; i < 64; i++) {
        L4_StoreMR(i, &w);
        if (w != 0xAB000000u + static_cast<Word>(i)) wrong |= 0x200u + static_cast<Word>(i);
    }
    for (int i = 1; i < 33; i++) {
        L4_StoreBR(i, &w);
        if (w != 0xBC000000u + static_cast<Word>(i) * 16) wrong |= 0x400u + static_cast<Word>(i);
    }
    if (L4_Accepted().raw != 0x10 || L4_ActualSender().raw != 0x1234567) wrong |= 0x800;
    if (L4_XferTimeouts() != 0x11112222 || L4_UserDefinedHandle() != 0x33334444) wrong |= 0x1000;
    L4_Set_XferTimeouts(0);
    return wrong;
}
/// An exception and its answer change nothing of the thread's but the registers named in the answer.
void utcb_unchanged()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_raise_with_full_utcb);
    CHECK_EQUAL(finish(a, true).exceptions, 1);
    Word mr[13];
    for (int i = 0; i < 13; i++) mr[i] = a->out.exception[i];
    mr[0] = 12;
    mr[1] += 2; // behind the instruction
    L4_LoadMRs(0, 13, mr);
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
    CHECK_EQUAL(finish(a).value, 0);
}

/// The answer sets the registers: skip the division, other values, IOPL and IF untouched.
void answer_rewrites()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, x2test_divide);
    CHECK_EQUAL(finish(a, true).exceptions, 1);
    Word mr[13];
    for (int i = 0; i < 13; i++) mr[i] = a->out.exception[i];
    mr[0] = 12;
    mr[1] += 2;
    mr[2] = 0x3041; // IOPL 3 and no IF: not the user's to change
    mr[5] = 0x100000, mr[6] = 0x200000, mr[7] = 0x400000, mr[9] = 0x800000;
    mr[10] = 0x1000000, mr[11] = 0x2000000, mr[12] = 0x4000000;
    L4_LoadMRs(0, 13, mr);
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
    CHECK_EQUAL(finish(a).value, 0x7F00000);
    begin(a, x2test_cli);
    CHECK(!finish(a, true).done); // it still may not
}

void software_interrupt() { raises(Kind::other, x2test_int80, 13, 0x80 * 8 + 2); }
void undefined_instruction() { raises(Kind::other, x2test_undefined, 6, 0); }
void privileged_instructions()
{
    raises(Kind::large, x2test_cli, 13, 0);
    raises(Kind::large, x2test_write_cr3, 13, 0);
}
/// A protection fault that has nothing to do with the limit must not promote.
void privileged_in_small_space()
{
    raises(Kind::small, x2test_cli, 13, 0);
    raises(Kind::small, x2test_write_cr3, 13, 0);
}

/// hlt may be ignored or be an exception, but it never stops the machine or promotes.
void halt_instruction()
{
    Agent *a = agent(Kind::small);
    if (!a) return;
    begin(a, x2test_halt);
    const Outcome &out = finish(a, true);
    CHECK(out.done ? out.value == 1 : out.exception[3] == 13);
    CHECK(small_number(a) != 0);
}

void without_handler()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    ask(a, [](Word, Word, Word) {
        L4_Set_ExceptionHandler(L4_nilthread);
        return Word{0};
    });
    begin(a, x2test_divide);
    CHECK(!finish(a, true).done && !a->out.exceptions);
    CHECK_EQUAL(ask(b, do_nothing).value, 0);
    const Word state = L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr);
    CHECK(state == L4_SCHEDRESULT_INACTIVE || state == L4_SCHEDRESULT_DEAD);
}

constexpr Word msr_time_stamp = 0x10, msr_pat = 0x277;

Word cpuid_features()
{
    Word flags, a = 1, b, c, d = 0;
    // a processor without CPUID does not let its flag be changed
    __asm__("pushf; pop %0; mov %0, %1; xor $0x200000, %1; push %1; popf; pushf; pop %1; xor %1, %0"
            : "=&r"(flags), "=&r"(b));
    if (flags & 0x200000) __asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    return d;
}

/// The initial servers' threads have the model-specific registers. (A 486 has none, but QEMU's has.)
void model_specific_registers()
{
    constexpr Word have_msrs = 1u << 5, have_pat = 1u << 16;
    const Word features = cpuid_features();
    Agent *a = agent(Kind::here);
    if (!a || !(features & have_msrs)) return;
    CHECK(ask(a, x2test_read_msr, msr_time_stamp).done);
    CHECK_EQUAL(a->out.exceptions, 0);
    if (!(features & have_pat)) return;
    Word low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr_pat));
    CHECK(low != 0); // not all types are uncacheable
    ask(a, x2test_write_msr, msr_pat, low, high);
    CHECK_EQUAL(ask(a, x2test_read_msr, msr_pat).value, low);
    if (!wish.limits) return; // QEMU takes any value
    begin(a, x2test_write_msr, msr_pat, (low & ~0xFFu) | 2, high); // there is no memory type 2
    CHECK_EQUAL(finish(a, true).exceptions, 1);
    CHECK_EQUAL(a->out.exception[3], 13);
}

/// Other threads do not have them.
void model_specific_registers_unprivileged()
{
    if (!(cpuid_features() & 1u << 5)) return;
    for (const Kind kind : {Kind::large, Kind::small}) {
        raises(kind, x2test_read_msr, 13, 0);
        raises(kind, x2test_write_msr, 13, 0);
    }
}

void bound_range() { raises(Kind::other, x2test_bound, 5, 0); }

} // namespace

const Test exception_tests[] = {
    {"exception.message", message},
    {"exception.utcb_unchanged", utcb_unchanged},
    {"exception.answer_rewrites", answer_rewrites},
    {"exception.software_interrupt", software_interrupt},
    {"exception.undefined_instruction", undefined_instruction},
    {"exception.privileged_instructions", privileged_instructions},
    {"exception.privileged_in_small_space", privileged_in_small_space},
    {"exception.halt_instruction", halt_instruction},
    {"exception.without_handler", without_handler},
    {"exception.model_specific_registers", model_specific_registers},
    {"exception.model_specific_registers_unprivileged", model_specific_registers_unprivileged},
    {"exception.bound_range", bound_range},
    {nullptr, nullptr},
};

} // namespace x2test
