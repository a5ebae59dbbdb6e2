// SPDX-License-Identifier: BSD-2-Clause
// The coprocessor (x87, SSE): every thread has registers of its own, whatever others used in between; errors are
// exceptions; the coprocessor flags (manual 6.2).
#include "../harness.h"

#include <initializer_list>

extern "C" {
x2test::Word x2test_divide_by_zero(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_leave_error(x2test::Word, x2test::Word, x2test::Word);
x2test::Word x2test_sse_divide_by_zero(x2test::Word, x2test::Word, x2test::Word);
extern const char x2test_fwait_ip[], x2test_divps_ip[];
}
__asm__(".text\n"
        // Unmasks the exception for division by zero, divides, and waits for the error, which comes with the next
        // instruction.
        "x2test_divide_by_zero: push $0x37B; fldcw (%esp); pop %eax\n"
        "fldz; fld1; fdivp %st, %st(1)\n"
        "x2test_fwait_ip: fwait; mov $1, %eax; ret\n"
        "x2test_leave_error: push $0x37B; fldcw (%esp); pop %eax; fldz; fld1; fdivp %st, %st(1); ret\n"
        "x2test_sse_divide_by_zero: push $0x1D80; ldmxcsr (%esp); pop %eax\n"
        "xorps %xmm0, %xmm0; push $0x3F800000; movss (%esp), %xmm1; pop %eax\n"
        "x2test_divps_ip: divss %xmm0, %xmm1; mov $1, %eax; ret\n");

namespace x2test {
namespace {

Word cpuid_features()
{
    Word flags, changed;
    __asm__("pushf; pop %0; mov %0, %1; xor $0x200000, %1; push %1; popf; pushf; pop %1"
            : "=&r"(flags), "=&r"(changed));
    if (!((flags ^ changed) & 0x200000)) return 1; // a 486 without cpuid that runs these tests has a coprocessor
    Word a = 1, b, c, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    return d;
}
bool have_coprocessor() { return cpuid_features() & 1; }
bool have_sse() { return cpuid_features() & 1u << 25; }

/// What a thread can see: eight registers of ten bytes and the control words.
struct Image {
    Word control, status, tags, pointers[4];
    unsigned char registers[80];
};
/// fsave empties the registers that it stores.
Word do_save(Word to, Word, Word)
{
    __asm__ volatile("fnsave %0; frstor %0" : "+m"(*reinterpret_cast<Image *>(to)));
    return 0;
}
/// Eight registers hold n, n + 1, ...; precision control 24 bits.
Word do_fill(Word n, Word, Word)
{
    for (Word i = 8; i-- > 0;) {
        const Word value = n + i;
        if (i == 7) __asm__ volatile("fninit");
        __asm__ volatile("fildl %0" : : "m"(value));
    }
    const unsigned short control = 0x007F;
    __asm__ volatile("fldcw %0" : : "m"(control));
    return 0;
}
/// What do_fill() left, all of it; 0 if it is right, else which register is not.
Word do_check(Word n, Word, Word)
{
    Image image;
    do_save(reinterpret_cast<Word>(&image), 0, 0);
    if ((image.control & 0xFFFF) != 0x007F) return image.control | 0x10000;
    for (Word i = 0; i < 8; i++) {
        Word value;
        __asm__ volatile("fistl %0; fincstp" : "=m"(value));
        if (value != n + i) return i + 1;
    }
    return 0;
}
Word do_check_fresh(Word, Word, Word)
{
    Image image;
    do_save(reinterpret_cast<Word>(&image), 0, 0);
    if ((image.control & 0xFFFF) != 0x037F || (image.status & 0xFFFF) || (image.tags & 0xFFFF) != 0xFFFF) return 1;
    for (const unsigned char byte : image.registers)
        if (byte) return 2;
    return 0;
}

Word do_fill_sse(Word n, Word mxcsr, Word)
{
    alignas(16) const Word value[4] = {n, n + 1, n + 2, n + 3};
    __asm__ volatile("movups %0, %%xmm0; movups %0, %%xmm7; ldmxcsr %1" : : "m"(value), "m"(mxcsr));
    return 0;
}
Word do_check_sse(Word n, Word mxcsr, Word)
{
    Word low[4], high[4], control;
    __asm__ volatile("movups %%xmm0, %0; movups %%xmm7, %1; stmxcsr %2" : "=m"(low), "=m"(high), "=m"(control));
    for (Word i = 0; i < 4; i++)
        if (low[i] != (n ? n + i : 0) || high[i] != low[i]) return 1 + i;
    return control == mxcsr ? 0 : control | 0x10000;
}

/// Agents of all kinds, also two in one space, fill in turn and find their own registers again.
void own_registers()
{
    if (!have_coprocessor()) return;
    Agent *all[4] = {agent(Kind::large), agent(Kind::small), agent(Kind::here)};
    if (!all[0] || !all[1] || !all[2]) return;
    all[3] = agent_beside(all[1]);
    if (!all[3]) return;
    for (Word i = 0; i < 4; i++) ask(all[i], do_fill, 1000 * (i + 1));
    for (Word round = 0; round < 3; round++)
        for (Word i = 0; i < 4; i++) {
            CHECK_EQUAL(ask(all[i], do_check, 1000 * (i + 1)).value, 0);
            CHECK_EQUAL(ask(all[3 - i], do_check, 1000 * (4 - i)).value, 0);
        }
}

/// The first use finds the state of a reset, whatever others left behind: threads of the same space, too.
void starts_fresh()
{
    if (!have_coprocessor()) return;
    for (const Kind kind : {Kind::large, Kind::small, Kind::here}) {
        Agent *a = agent(kind), *b = agent(kind);
        if (!a || !b) return;
        ask(a, do_fill, 77);
        CHECK_EQUAL(ask(b, do_check_fresh).value, 0);
        CHECK_EQUAL(ask(a, do_check, 77).value, 0);
    }
}

/// Nothing reaches a thread that gets the number, the memory and the processor of one that was deleted while its
/// registers were the processor's.
void deleted_owner()
{
    if (!have_coprocessor()) return;
    for (Word i = 0; i < 20; i++) {
        Agent *a = agent(i & 1 ? Kind::small : Kind::large);
        if (!a) return;
        CHECK_EQUAL(ask(a, do_check_fresh).value, 0);
        ask(a, do_fill, 500 + i);
        remove(a);
    }
    Agent *b = agent(Kind::other);
    if (!b) return;
    CHECK_EQUAL(ask(b, do_check_fresh).value, 0);
}

/// An error that was not waited for goes with the registers that it came with, of a thread that was deleted or needs
/// them no more.
void error_left_behind()
{
    if (!have_coprocessor()) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other), *c = agent(Kind::other);
    if (!a || !b || !c) return;
    ask(a, x2test_leave_error);
    remove(a);
    CHECK_EQUAL(ask(b, do_check_fresh).value, 0);
    ask(c, x2test_leave_error);
    ask(c, [](Word, Word, Word) {
        L4_Clr_CopFlag(0);
        return Word{0};
    });
    CHECK_EQUAL(ask(b, do_check_fresh).value, 0);
}

/// Preempted in the middle of a computation: both go on with theirs.
constinit volatile Word spinning = 0;
Word do_spin(Word n, Word, Word)
{
    do_fill(n, 0, 0);
    spinning = spinning + 1;
    while (spinning < 3) {
        if (const Word wrong = do_check(n, 0, 0)) return wrong;
    }
    return do_check(n, 0, 0);
}
void preempted()
{
    if (!have_coprocessor()) return;
    spinning = 0;
    Agent *a = agent(Kind::here), *b = agent(Kind::here);
    if (!a || !b) return;
    begin(a, do_spin, 100);
    begin(b, do_spin, 200);
    pause(100000); // several time slices
    CHECK_EQUAL(spinning, 2);
    spinning = 3;
    CHECK_EQUAL(finish(a).value, 0);
    CHECK_EQUAL(finish(b).value, 0);
}

/// A new version of a thread is the same thread: its registers stay.
void new_version()
{
    if (!have_coprocessor()) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    ask(a, do_fill, 31);
    const Word version = L4_Version(a->id) + 1;
    const L4_ThreadId_t next = L4_GlobalId(L4_ThreadNo(a->id), version % 64 ? version : version + 1);
    CHECK(L4_ThreadControl(next, a->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    a->id = next;
    ask(b, do_fill, 32);
    CHECK_EQUAL(ask(a, do_check, 31).value, 0);
}

/// The space changes between small and large while the registers are the thread's.
void space_changes()
{
    if (!have_coprocessor()) return;
    Agent *a = agent(Kind::large), *b = agent(Kind::other);
    if (!a || !b) return;
    ask(a, do_fill, 61);
    for (int i = 0; i < 3; i++) {
        CHECK(make_small(a, a->index));
        CHECK_EQUAL(ask(a, do_check, 61).value, 0);
        ask(b, do_fill, 62);
        make_large(a);
        CHECK_EQUAL(ask(a, do_check, 61).value, 0);
    }
}

Word do_set_flag(Word on, Word, Word)
{
    if (on) L4_Set_CopFlag(0);
    else L4_Clr_CopFlag(0);
    return 0;
}
/// A thread that needs its registers no more does not get them back once another has used the coprocessor, nor those of
/// the other (which registers it does get is not specified; here they are fresh).
void flag_lets_go()
{
    if (!have_coprocessor()) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    ask(a, do_fill, 41);
    ask(a, do_set_flag, 0);
    ask(b, do_fill, 42);
    ask(a, do_set_flag, 1);
    CHECK_EQUAL(ask(a, do_check_fresh).value, 0);
    CHECK_EQUAL(ask(b, do_check, 42).value, 0);
    ask(a, do_fill, 43);
    ask(b, do_nothing);
    CHECK_EQUAL(ask(b, do_check, 42).value, 0);
    CHECK_EQUAL(ask(a, do_check, 43).value, 0); // the flag is set again
}

void sse_registers()
{
    if (!have_sse()) return;
    Agent *a = agent(Kind::large), *b = agent(Kind::small);
    if (!a || !b) return;
    CHECK_EQUAL(ask(a, do_check_sse, 0, 0x1F80).value, 0);
    ask(a, do_fill_sse, 11, 0x5F80);
    CHECK_EQUAL(ask(b, do_check_sse, 0, 0x1F80).value, 0);
    ask(b, do_fill_sse, 21, 0x3F80);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(ask(a, do_check_sse, 11, 0x5F80).value, 0);
        CHECK_EQUAL(ask(b, do_check_sse, 21, 0x3F80).value, 0);
    }
}

void raises_at(Function f, Word number, const char *ip)
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        begin(a, f);
        const Outcome &out = finish(a, true);
        CHECK_EQUAL(out.exceptions, 1);
        CHECK_EQUAL(out.exception[0], 0xFFB0000C);
        CHECK_EQUAL(out.exception[1], reinterpret_cast<Word>(ip));
        CHECK_EQUAL(out.exception[3], number);
        CHECK_EQUAL(out.exception[4], 0);
    }
}
void x87_error()
{
    if (have_coprocessor()) raises_at(x2test_divide_by_zero, 16, x2test_fwait_ip);
}
/// limits=1: QEMU computes on where SSE would raise its errors.
void sse_error()
{
    if (have_sse() && wish.limits) raises_at(x2test_sse_divide_by_zero, 19, x2test_divps_ip);
}

/// Empty spaces until the kernel has no memory for another; returns how many.
Word take_kernel_memory(Word first)
{
    Word n = 0;
    for (;; n++) {
        const L4_ThreadId_t id = L4_GlobalId(first + n, 1);
        if (!L4_ThreadControl(id, id, main_id, L4_nilthread, reinterpret_cast<void *>(-1))) return n;
    }
}
void give_kernel_memory_back(Word first, Word taken)
{
    for (Word i = 0; i < taken; i++)
        L4_ThreadControl(L4_GlobalId(first + i, 1), L4_nilthread, L4_nilthread, L4_nilthread,
                         reinterpret_cast<void *>(-1));
}
Word kernel_memory()
{
    const Word first = L4_ThreadNo(main_id) + 200, taken = take_kernel_memory(first);
    give_kernel_memory_back(first, taken);
    return taken;
}
/// The state of a thread ends with the thread.
void memory_comes_back()
{
    if (!have_coprocessor()) return;
    Word before = 0;
    for (int i = 0; i < 160; i++) {
        if (i == 8) before = kernel_memory(); // the first have filled the kernel's pools
        Agent *a = agent(Kind::here);
        if (!a) return;
        ask(a, do_fill, 1);
        remove(a);
    }
    CHECK_EQUAL(kernel_memory(), before);
}

/// No memory to keep its registers: an exception. When there is some again, the instruction can be repeated.
void out_of_memory()
{
    if (!have_coprocessor()) return;
    constexpr unsigned count = 20; // more than the states that earlier tests have left
    Agent *all[count];
    for (Agent *&a : all) {
        a = agent(Kind::here);
        if (!a) return;
        ask(a, do_nothing);
    }
    const Word first = L4_ThreadNo(main_id) + 200, taken = take_kernel_memory(first);
    const Word error = L4_ErrorCode();
    Agent *refused = nullptr;
    for (Word i = 0; i < count && !refused; i++) {
        begin(all[i], do_fill, 10 * i);
        if (finish(all[i], true).exceptions) refused = all[i];
    }
    give_kernel_memory_back(first, taken);
    CHECK_EQUAL(error, 8);
    CHECK(refused);
    Word *mr = refused->out.exception;
    CHECK_EQUAL(mr[3], 7);
    mr[0] = 12;
    L4_LoadMRs(0, 13, mr);
    refused->out.exceptions = 0;
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(refused->id, second)));
    CHECK(finish(refused).done);
    for (Word i = 0; i < count; i++) {
        if (all[i] == refused) break;
        CHECK_EQUAL(ask(all[i], do_check, 10 * i).value, 0);
    }
}

/// Without a coprocessor its instructions are exceptions.
void none_there()
{
    if (have_coprocessor()) return;
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_fill, 1);
    CHECK_EQUAL(finish(a, true).exceptions, 1);
    CHECK_EQUAL(a->out.exception[3], 7);
}

} // namespace

const Test coprocessor_tests[] = {
    {"coprocessor.own_registers", own_registers},
    {"coprocessor.starts_fresh", starts_fresh},
    {"coprocessor.deleted_owner", deleted_owner},
    {"coprocessor.error_left_behind", error_left_behind},
    {"coprocessor.preempted", preempted},
    {"coprocessor.new_version", new_version},
    {"coprocessor.space_changes", space_changes},
    {"coprocessor.flag_lets_go", flag_lets_go},
    {"coprocessor.sse_registers", sse_registers},
    {"coprocessor.x87_error", x87_error},
    {"coprocessor.sse_error", sse_error},
    {"coprocessor.memory_comes_back", memory_comes_back},
    {"coprocessor.out_of_memory", out_of_memory},
    {"coprocessor.none_there", none_there},
    {nullptr, nullptr},
};

} // namespace x2test
