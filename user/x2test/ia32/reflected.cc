// SPDX-License-Identifier: BSD-2-Clause
#include "reflected.h"

#include <cobnut/control.h>
#include <cobnut/tls.h>

extern "C" {
constinit volatile x2test::Word x2test_client_word = 0;
x2test::Word x2test_segments(x2test::Word word, x2test::Word, x2test::Word);
}
__asm__(
    ".text\n"
    ".globl x2test_reflected, x2test_reflected_ip, x2test_call, x2test_call_ip, x2test_flagged_ipc\n"
    // Arguments from 36(%esp): rounds, selector, which registers take it. Returns what is wrong: 1 to 8 a register, 9
    // CF, 10 DF, 11 the word behind GS, 12 that behind FS.
    "x2test_reflected: push %ebp; push %ebx; push %esi; push %edi; push %gs; push %fs; push %ds; push %es\n"
    "1: mov 40(%esp), %eax; mov 44(%esp), %ecx\n"
    "test $1, %cl; jz 2f; mov %eax, %gs; 2: test $2, %cl; jz 2f; mov %eax, %fs\n"
    "2: test $4, %cl; jz 2f; mov %eax, %es; 2: test $8, %cl; jz 2f; mov %eax, %ds\n"
    "2: test $16, %cl; jz 2f; mov %eax, %ss\n"
    "2: mov $0xA1, %eax; mov $0xA2, %ecx; mov $0xA3, %edx; mov $0xA4, %ebx; mov $0xA5, %esi; mov $0xA6, %edi\n"
    "mov $0xA7, %ebp; stc; std\n"
    "x2test_reflected_ip: int $0x80\n"
    "jnc 9f; cmp $0x1A1, %eax; jne 8f; pushf; pop %eax; cld; test $0x400, %eax; jz 10f\n"
    "cmp $0x1A2, %ecx; mov $2, %eax; jne 11f; cmp $0x1A3, %edx; mov $3, %eax; jne 11f\n"
    "cmp $0x1A4, %ebx; mov $4, %eax; jne 11f; cmp $0x1A5, %esi; mov $5, %eax; jne 11f\n"
    "cmp $0x1A6, %edi; mov $6, %eax; jne 11f; cmp $0x1A7, %ebp; mov $7, %eax; jne 11f\n"
    "mov %ss:x2test_client_word, %edx\n"
    "testb $1, 44(%esp); jz 3f; mov $11, %eax; cmp %gs:0, %edx; jne 11f\n"
    "3: testb $2, 44(%esp); jz 3f; mov $12, %eax; cmp %fs:0, %edx; jne 11f\n"
    "3: decl 36(%esp); jnz 1b; xor %eax, %eax; jmp 11f\n"
    "8: mov $1, %eax; jmp 11f\n9: mov $9, %eax; jmp 11f\n10: mov $10, %eax\n"
    "11: cld; mov %cs:x2test_data_selector, %ss; pop %es; pop %ds; pop %fs; pop %gs; pop %edi; pop %esi; pop %ebx\n"
    "pop %ebp; ret\n"

    "x2test_call: mov 4(%esp), %eax\n"
    "x2test_call_ip: int $0x80\n"
    "ret\n"

    // The stub's work where that is sysenter, so that nothing stands between the flags and the entry.
    "x2test_flagged_ipc: push %ebp; push %ebx; push %esi; push %edi\n"
    "call __L4_Kip_Base; mov %eax, %ebx; add 0xE0(%eax), %ebx\n"
    "mov %gs:0, %edi; mov (%edi), %esi; mov 20(%esp), %eax; mov 24(%esp), %edx; xor %ecx, %ecx\n"
    "cmpb $0xCD, (%ebx); je 1f\n"
    "push %cs; push $2f; pushf; mov 40(%esp), %ebp; or %ebp, (%esp); lea 4(%esp), %ebp; mov $2f, %ebx; popf; sysenter\n"
    "1: pushf; mov 32(%esp), %ebp; andl $~0x100, %ebp; or %ebp, (%esp); popf; call *%ebx\n"
    "2: pushf; andl $~0x44500, (%esp); popf; mov %esi, (%edi); mov %ebx, 4(%edi); mov %ebp, 8(%edi)\n"
    "pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"

    // Which are wrong: 1 DF set, 2 TF set, 4 GS; 8/16/32/64 the word at free_area through DS, ES, FS, SS; 128/256/512
    // their selectors.
    "x2test_segments: pushf; pop %ecx; cld; mov 4(%esp), %edx; xor %eax, %eax\n"
    "test $0x400, %ecx; jz 1f; or $1, %eax; 1: test $0x100, %ecx; jz 1f; or $2, %eax\n"
    "1: mov %gs, %ecx; cmp $0x2B, %cx; je 1f; or $4, %eax\n"
    "1: mov %ds, %ecx; cmp %cs:x2test_data_selector, %cx; je 1f; or $128, %eax\n"
    "1: mov %es, %ecx; cmp %cs:x2test_data_selector, %cx; je 1f; or $256, %eax\n"
    "1: mov %fs, %ecx; cmp %cs:x2test_data_selector, %cx; je 1f; or $512, %eax\n"
    "1: test %edx, %edx; jz 2f; mov $0x00A00000, %ecx\n"
    "cmp %edx, %ds:(%ecx); je 1f; or $8, %eax; 1: cmp %edx, %es:(%ecx); je 1f; or $16, %eax\n"
    "1: cmp %edx, %fs:(%ecx); je 1f; or $32, %eax; 1: cmp %edx, %ss:(%ecx); je 2f; or $64, %eax; 2: ret\n"
    ".data\n.globl x2test_data_selector\nx2test_data_selector: .long 0\n.text\n");

extern "C" x2test::Word x2test_data_selector;

namespace x2test {

constinit Word caught[13] = {}, answer[64] = {};
constinit volatile Word server_wrong = 0, served = 0;
constinit Call calls[4] = {};

namespace {

constexpr Word exception_tag = 0xFFB0000C, protection = 13, changed = 0x100;

void know_selectors()
{
    __asm__ volatile("mov %%ds, %0" : "=r"(x2test_data_selector));
    x2test_data_selector &= 0xFFFF;
}

} // namespace

bool has_gate()
{
    const unsigned char *kip = static_cast<const unsigned char *>(L4_GetKernelInterface());
    constexpr Word ipc_offset = 0xE0, int_opcode = 0xCD;
    return kip[*reinterpret_cast<const Word *>(kip + ipc_offset)] != int_opcode;
}

bool has_coprocessor()
{
    constexpr Word emulation = 4;
    Word cr0;
    __asm__("smsw %0" : "=r"(cr0));
    return !(cr0 & emulation);
}

Word do_calls(Word n, Word, Word)
{
    know_selectors();
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = calls[n].handler});
    const Word result = x2test_reflected(calls[n].rounds, calls[n].selector, calls[n].segments);
    L4_Set_ExceptionHandler(main_id);
    return result;
}

Word do_one_call(Word handler, Word eax, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = handler});
    const Word result = x2test_call(eax, 0, 0);
    L4_Set_ExceptionHandler(main_id);
    return result;
}

Word do_serve(Word client, Word ways, Word word)
{
    know_selectors();
    const Word everybody = L4_anythread.raw;
    L4_ThreadId_t from;
    L4_Wait(&from);
    for (;;) {
        if (const Word wrong = x2test_segments(word, 0, 0)) server_wrong = wrong;
        Word mr[13];
        L4_StoreMRs(0, 13, mr);
        if (mr[0] != exception_tag || mr[3] != protection || mr[4] != 8 * 0x80 + 2) server_wrong = 0xE000 | mr[3];
        if (mr[1] != reinterpret_cast<Word>(x2test_reflected_ip)) server_wrong = 0xE100;
        constexpr Word given[] = {0xA6, 0xA5, 0xA7, 0, 0xA4, 0xA3, 0xA2, 0xA1};
        for (Word i = 0; i < 8; i++)
            if (i != 3 && mr[5 + i] != given[i]) server_wrong = 0xE200 | i;
        served = served + 1;
        if (ways & with_coprocessor) {
            const Word value = served;
            __asm__ volatile("fninit; fildl %0; fildl %0; fildl %0" : : "m"(value));
        }
        for (Word i = 5; i < 13; i++)
            if (i != 8) mr[i] += changed;
        mr[0] = 12;
        mr[1] += 2;
        L4_LoadMRs(0, 13, mr);
        const Word to = client ? client : from.raw;
        from.raw = x2test_flagged_ipc(to, ways & by_call ? to : everybody, ways & all_flags);
    }
}

Word do_catch(Word, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    L4_StoreMRs(0, 13, caught);
    return from.raw;
}

Word do_answer(Word client, Word, Word)
{
    const Word words = (answer[0] & 63) + (answer[0] >> 6 & 63);
    L4_LoadMRs(0, static_cast<int>(words + 1), answer);
    L4_ThreadId_t from;
    L4_Ipc(L4_ThreadId_t{.raw = client}, L4_anythread, L4_Timeouts(L4_Never, L4_Never), &from);
    L4_StoreMRs(0, 13, caught);
    return from.raw;
}

void load_simple_answer(Word eax)
{
    for (Word i = 1; i < 13; i++) answer[i] = caught[i];
    answer[0] = 12;
    answer[1] += 2;
    answer[12] = eax;
}

Pair pair_of(Kind client, Kind server)
{
    Pair p;
    p.client = agent(client);
    if (!p.client) return p;
    p.server = server == Kind::here ? agent_beside(p.client) : agent(server);
    return p;
}

Pair in_controlled_space(const Pair &p)
{
    if (!p || cobnut::set_controlled(p.client->id, true)) return p;
    fail("no control: error %u", L4_ErrorCode());
    return {};
}

Pair with_segment(const Pair &p, Word &selector)
{
    if (!p || Cobnut_TlsControl(p.client->id, arena_page(3), &selector)) return p;
    fail("no segment: error %u", L4_ErrorCode());
    return {};
}

bool free_client_comes_back(const Pair &p, Word value)
{
    if (!redirect(p.client, L4_anythread)) return fail("no redirector: error %u", L4_ErrorCode()), false;
    begin(p.server, do_answer_last, p.client->id.raw);
    const Outcome &out = finish(p.client);
    if (out.done && out.value == value && !out.exceptions) return true;
    return fail("the client has %x, not %x", out.value, value), false;
}

void catch_from(const Pair &p, Function what, Word x, Word y)
{
    begin(p.server, do_catch);
    pause(1000); // it waits
    begin(p.client, what, p.server->id.raw, x, y);
    finish(p.server);
}

bool call_is_caught(const Pair &p, Word eax)
{
    caught[12] = ~eax;
    catch_from(p, do_one_call, eax);
    if (caught[0] == exception_tag && caught[12] == eax) return true;
    fail("no call of %x came: tag %x, EAX %x", eax, caught[0], caught[12]);
    return false;
}

bool answered(const Pair &p, Word eax)
{
    load_simple_answer(eax);
    begin(p.server, do_answer_last, p.client->id.raw);
    const Outcome &out = finish(p.client);
    if (out.done && out.value == eax) return true;
    fail("the client has %x, not %x", out.value, eax);
    return false;
}

} // namespace x2test
