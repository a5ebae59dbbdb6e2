// SPDX-License-Identifier: BSD-2-Clause
// Arguments and register contents that make no sense. The kernel may refuse, fault the caller or ignore them; it must
// go on. The random sequences depend on the seed only; it is printed with a failure.
#include "../harness.h"

#include <cobnut/audit.h>
#include <l4/kdebug.h>

extern "C" {
x2test::Word x2test_odd_ipc(x2test::Word kind, x2test::Word, x2test::Word);
x2test::Word x2test_raw_entry(x2test::Word kind, x2test::Word, x2test::Word);
}
// A short sleep through the Ipc stub in an odd state of the processor; returns 0 if gs:0 is right afterwards.
__asm__(".text\n"
        "x2test_odd_ipc: push %ebp; push %ebx; push %esi; push %edi\n"
        "call __L4_Kip_Base\n"
        "mov %eax, %ebx; add 0xE0(%eax), %ebx\n"
        "mov %gs:0, %edi; mov %edi, %edx; mov $0x0E71, %ecx\n" // receive from oneself, 5 ms
        "xor %eax, %eax; xor %esi, %esi\n"
        "mov 20(%esp), %ebp\n"
        "jmp *odd_table(,%ebp,4)\n"
        "odd_gs: xor %ebp, %ebp; mov %ebp, %gs; call *%ebx; jmp odd_end\n"
        "odd_ds: push %ds; push %es; xor %ebp, %ebp; mov %ebp, %es; mov %ebp, %ds; call *%ebx; pop %es; pop %ds\n"
        "jmp odd_end\n"
        "odd_df: std; call *%ebx; cld; jmp odd_end\n"
        "odd_tf: pushf; orl $0x100, (%esp); popf; call *%ebx\n"
        "pushf; andl $~0x100, (%esp); popf; jmp odd_end\n"
        "odd_nt: pushf; orl $0x4000, (%esp); popf; call *%ebx\n"
        "pushf; andl $~0x4000, (%esp); popf; jmp odd_end\n"
        "odd_ac: pushf; orl $0x40000, (%esp); popf; call *%ebx\n"
        "pushf; andl $~0x40000, (%esp); popf; jmp odd_end\n"
        "odd_fs: mov %ds, %ebp; mov %ebp, %fs; mov %ebp, %gs; call *%ebx; jmp odd_end\n"
        "odd_kernel_gs: mov $0x10, %ebp; mov %ebp, %gs; call *%ebx\n"
        "odd_end: mov %gs:0, %eax; sub %edi, %eax\n"
        "pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"
        ".section .rodata\n"
        "odd_table: .long odd_gs, odd_ds, odd_df, odd_tf, odd_nt, odd_ac, odd_fs, odd_kernel_gs\n"
        // The kernel's gates without the stub around them.
        ".text\n"
        "x2test_raw_entry: push %ebp; push %ebx; push %esi; push %edi\n"
        "mov 20(%esp), %ebp\n"
        "mov $0xDEAD0001, %eax; mov %eax, %ebx; mov %eax, %ecx; mov %eax, %edx; mov %eax, %esi; mov %eax, %edi\n"
        "jmp *entry_table(,%ebp,4)\n"
        "entry_30: int $0x30; jmp entry_end\n"
        "entry_31: int $0x31; jmp entry_end\n"
        "entry_32: int $0x32; jmp entry_end\n"
        "entry_sysenter: mov %esp, %ebp; sysenter; jmp entry_end\n"
        "entry_int0: int $0; jmp entry_end\n"
        "entry_int8: int $8; jmp entry_end\n"
        "entry_int14: int $14; jmp entry_end\n"
        "entry_int32: int $0x20; jmp entry_end\n"
        "entry_far: lcall $0x8, $0\n"
        "entry_end: pop %edi; pop %esi; pop %ebx; pop %ebp; xor %eax, %eax; ret\n"
        ".section .rodata\n"
        "entry_table: .long entry_30, entry_31, entry_32, entry_sysenter, entry_int0, entry_int8, entry_int14\n"
        ".long entry_int32, entry_far\n"
        ".text\n");

namespace x2test {
namespace {

constexpr Kind both_kinds[] = {Kind::large, Kind::small};

/// All is well: two fresh agents in different spaces work and can talk to main.
void check_alive()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::small);
    if (!a || !b) return;
    CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
    CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
    remove(a);
    remove(b);
}

/// A word of the sort that finds mistakes.
Word odd_word(Random &random)
{
    switch (random.below(8)) {
    case 0: return 0;
    case 1: return ~0u;
    case 2: return 1u << random.below(32);
    case 3: return random.below(4096);
    case 4: return 0xC0000000 + random.below(0x40000000);
    case 5: return main_id.raw;
    case 6: return free_area + random.below(0x100000);
    default: return random.next();
    }
}

constexpr Word fields[] = {L4_KIP_SPACE_CONTROL,
                           L4_KIP_THREAD_CONTROL,
                           L4_KIP_PROCESSOR_CONTROL,
                           L4_KIP_MEMORY_CONTROL,
                           L4_KIP_UNMAP,
                           L4_KIP_EXCHANGE_REGISTERS,
                           L4_KIP_SYSTEM_CLOCK,
                           L4_KIP_THREAD_SWITCH,
                           L4_KIP_SCHEDULE,
                           L4_KIP_IPC,
                           L4_KIP_LIPC};

/// Short timeouts only, and no partner that would be disturbed: not main (as destination), not sigma0.
void tame_ipc(L4_Registers_t &r, Random &random, Word utcb)
{
    if (r.eax == main_id.raw) r.eax = 0;
    r.ecx = (random.below(2) ? 0x04000000u : 0x0C0A0000u) | (random.below(2) ? 0x0400u : 0x0C0Au);
    r.edi = utcb;
}

Word do_random_calls(Word seed, Word calls, Word)
{
    Random random(seed);
    const Word me = L4_MyGlobalId().raw, utcb = L4_MyLocalId().raw;
    for (Word i = 0; i < calls; i++) {
        const Word field = fields[random.below(sizeof fields / sizeof *fields)];
        L4_Registers_t r = {odd_word(random), odd_word(random), odd_word(random), odd_word(random),
                            odd_word(random), odd_word(random), odd_word(random)};
        for (int mr = 1; mr < 64; mr += 1 + static_cast<int>(random.below(8))) L4_LoadMR(mr, odd_word(random));
        L4_LoadBR(0, odd_word(random));
        if (field == L4_KIP_EXCHANGE_REGISTERS && (r.eax == me || r.eax == utcb)) continue;
        if (field == L4_KIP_IPC || field == L4_KIP_LIPC) tame_ipc(r, random, utcb);
        if (field == L4_KIP_UNMAP || field == L4_KIP_MEMORY_CONTROL) r.edi = utcb;
        __L4_Call_Stub(field, &r);
    }
    return 0;
}

void unprivileged_calls(Kind kind)
{
    for (Word round = 0; round < 3; round++) {
        Agent *a = agent(kind);
        if (!a) return;
        const Outcome &out = ask(a, do_random_calls, wish.seed + round, wish.calls / 3);
        if (!out.done)
            fail("seed %u: %u exceptions, last %u at %08x", wish.seed + round, out.exceptions, out.exception[3],
                 out.exception[1]);
        remove(a);
    }
    check_alive();
}
void calls_from_large_space() { unprivileged_calls(Kind::large); }
void calls_from_small_space() { unprivileged_calls(Kind::small); }

/// Main is privileged: thread numbers of its wishes stay in a range that is not used otherwise.
void privileged_calls()
{
    Random random(wish.seed);
    const Word base = L4_ThreadNo(main_id) + 200;
    Agent *space = agent(Kind::large);
    if (!space) return;
    for (Word i = 0; i < wish.calls; i++) {
        const L4_ThreadId_t dest = L4_GlobalId(base + random.below(24), random.next());
        L4_Registers_t r = {dest.raw,         odd_word(random), odd_word(random), odd_word(random),
                            odd_word(random), odd_word(random), odd_word(random)};
        switch (random.below(5)) {
        case 0: // ThreadControl: EAX dest, ECX pager, EDX scheduler, ESI space, EDI UTCB
            if (random.below(2)) r.esi = random.below(2) ? dest.raw : space->id.raw;
            if (random.below(2)) r.edi = utcb_area + random.below(40) * 512;
            __L4_Call_Stub(L4_KIP_THREAD_CONTROL, &r);
            break;
        case 1:
            if (random.below(2)) r.eax = odd_word(random) == main_id.raw ? 0 : dest.raw;
            __L4_Call_Stub(L4_KIP_SPACE_CONTROL, &r);
            break;
        case 2: __L4_Call_Stub(L4_KIP_SCHEDULE, &r); break;
        case 3: __L4_Call_Stub(L4_KIP_EXCHANGE_REGISTERS, &r); break;
        default:
            r.edi = L4_MyLocalId().raw;
            r.eax |= 0x100; // an invalid control word: memory attributes of main's own pages stay
            __L4_Call_Stub(L4_KIP_MEMORY_CONTROL, &r);
        }
    }
    for (Word i = 0; i < 24; i++)
        L4_ThreadControl(L4_GlobalId(base + i, 1), L4_nilthread, L4_nilthread, L4_nilthread,
                         reinterpret_cast<void *>(-1));
    remove(space);
    check_alive();
}

Word do_ipc_with_utcb(Word utcb, Word field, Word)
{
    L4_Registers_t r = {0, L4_Timeouts(L4_ZeroTime, L4_ZeroTime), L4_anythread.raw, 0, utcb, 0, 0};
    __L4_Call_Stub(field, &r);
    return 0;
}
/// EDI is the caller's word for where its UTCB is: the kernel may believe nothing of it.
void wild_utcb()
{
    constexpr Word places[] = {0, 3, free_area, kip_area, 0xBFFFFFFC, 0xF0100000, 0xFFFFFFFF, utcb_area + 8};
    constexpr Word calls[] = {L4_KIP_IPC, L4_KIP_UNMAP};
    for (const Word utcb : places)
        for (const Word field : calls) {
            Agent *a = agent(Kind::other);
            if (!a) return;
            begin(a, do_ipc_with_utcb, utcb, field);
            finish(a, true);
            remove(a);
        }
    check_alive();
}

void odd_state(Word kind, bool may_fault)
{
    for (const Kind space : both_kinds) {
        Agent *a = agent(space);
        if (!a) return;
        begin(a, x2test_odd_ipc, kind);
        const Outcome &out = finish(a, true);
        if (!may_fault) {
            CHECK(out.done);
            CHECK_EQUAL(out.value, 0);
        }
        remove(a);
    }
    check_alive();
}
void null_gs() { odd_state(0, false); }
void null_ds_and_es() { odd_state(1, false); }
void direction_flag() { odd_state(2, false); }
void nested_task_flag() { odd_state(4, false); }
void alignment_check_flag() { odd_state(5, true); }
void foreign_fs_and_gs() { odd_state(6, true); }
void kernel_selector_in_gs() { odd_state(7, true); }

/// Single-stepped into the stub: debug exceptions go to the handler, wherever they hit.
void trap_flag()
{
    for (const Kind space : both_kinds) {
        Agent *a = agent(space);
        if (!a) return;
        begin(a, x2test_odd_ipc, 3);
        unsigned steps = 0;
        while (!finish(a, true).done && a->out.exceptions && steps++ < 100) {
            CHECK_EQUAL(a->out.exception[3], 1);
            Word mr[13];
            for (int i = 0; i < 13; i++) mr[i] = a->out.exception[i];
            a->out.exceptions = 0;
            mr[0] = 12;
            if (steps >= 3) mr[2] &= ~0x100u;
            L4_LoadMRs(0, 13, mr);
            if (L4_IpcFailed(L4_Send_Timeout(a->id, second))) break;
        }
        remove(a); // whether TF survives the answer is the kernel's choice
    }
    check_alive();
}

void gates_without_stub()
{
    for (Word kind = 0; kind < 9; kind++)
        for (const Kind space : both_kinds) {
            Agent *a = agent(space);
            if (!a) return;
            begin(a, x2test_raw_entry, kind);
            finish(a, true);
            remove(a);
        }
    check_alive();
}

/// A stack pointer that points nowhere, at the moment of a system call.
Word do_jump_with_stack(Word esp, Word, Word)
{
    const Word entry = __L4_Kip_Base() + *reinterpret_cast<Word *>(__L4_Kip_Base() + L4_KIP_IPC);
    __asm__ volatile("mov %0, %%esp\n\tmov %%gs:0, %%edi\n\txor %%eax, %%eax\n\txor %%edx, %%edx\n\tjmp *%1"
                     :
                     : "r"(esp), "b"(entry)
                     : "memory");
    __builtin_unreachable();
}
void wild_stack()
{
    constexpr Word places[] = {0, 4, free_area, kip_area + 0x800, 0xBFFFFFFC, 0xF0100000, 0xFFFFFFFC};
    for (const Word esp : places)
        for (const Kind space : both_kinds) {
            Agent *a = agent(space);
            if (!a) return;
            begin(a, do_jump_with_stack, esp);
            finish(a, true);
            remove(a);
        }
    check_alive();
}

Word do_set_exception_handler(Word id, Word, Word)
{
    L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = id});
    return 0;
}

constinit volatile bool keeps_on = false;

/// Sets another thread going outside of user memory, again and again: its exceptions wait for this thread, which never
/// takes them.
Word do_drive_outside(Word id, Word, Word)
{
    constexpr Word cancel_and_set_ip = 0x16, outside = ~0u;
    while (keeps_on) __L4_Exregs(L4_ThreadId_t{.raw = id}, cancel_and_set_ip, 0, outside, 0);
    return 0;
}

/// Time goes by right when a thread's exception waits to be sent, in the kernel's one stretch of work: it is not that
/// thread's, which has all but used its quantum up.
void tick_while_it_waits()
{
    Agent *driver = agent(Kind::here);
    Agent *driven = driver ? agent_beside(driver) : nullptr;
    if (!driven) return;
    CHECK(L4_Set_Priority(driven->id, 120) && L4_Set_Priority(driver->id, 110));
    ask(driven, do_set_exception_handler, driver->id.raw);
    CHECK(L4_Set_Timeslice(driven->id, L4_TimePeriod(10000), L4_TimePeriod(1)) != 0);
    keeps_on = true;
    begin(driver, do_drive_outside, driven->id.raw);
    pause(50000);
    keeps_on = false;
    finish(driver);
    CHECK_EQUAL(L4_Schedule(driven->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_PENDING_SEND);
    L4_Time_t slice, left;
    CHECK(L4_Timeslice(driven->id, &slice, &left) != 0);
    CHECK_EQUAL(L4_PeriodUsec(left), 1);
    CHECK_EQUAL(cobnut::audit().faults, 0);
}

/// A text for the console without a character that would show, again and again.
Word do_print(Word, Word, Word)
{
    static constinit char text[1024] = {};
    for (char &c : text) c = '\r';
    text[sizeof text - 1] = 0;
    while (keeps_on) L4_KDB_PrintString(text);
    return 0;
}

/// A thread that moves to another space in the middle of a text goes on with the bytes there, which it could
/// read anyway.
void text_of_one_who_moves()
{
    constexpr int moves = 10;
    Agent *a = agent(Kind::large), *spaces[] = {agent(Kind::large), agent(Kind::small)};
    if (!a || !spaces[1]) return;
    keeps_on = true;
    begin(a, do_print);
    for (int i = 0; i < moves; i++) {
        pause(1);
        CHECK(L4_ThreadControl(a->id, spaces[i % 2]->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
        pause(1);
    }
    keeps_on = false;
    L4_KDB_PrintString("\n");
    CHECK_EQUAL(finish(a).value, 0);
    CHECK_EQUAL(cobnut::audit().faults, 0);
}

/// UTCBs at addresses that the kernel's index has in a few of its chains: one is refused before the search for a
/// local id takes long.
void utcbs_that_collide()
{
    constexpr Word golden = 0x9E3779B1, chain_log2 = 20; // core/thread.cpp: the upper twelve bits of the product
    constexpr Word longest_chain = 128, utcb_bytes = 512, area = 0x20000000, other_place = 0x20000000;
    constexpr int area_log2 = 29; // below the largest small-space area
    constexpr Word kip = area + (1u << area_log2);
    const auto id = [](Word n) { return L4_GlobalId(L4_ThreadNo(main_id) + 4096 + n, 1); };
    const auto make = [&](Word n, Word index) {
        return L4_ThreadControl(id(n), id(0), main_id, main_id, reinterpret_cast<void *>(index * utcb_bytes));
    };
    CHECK(L4_ThreadControl(id(0), id(0), main_id, L4_nilthread, reinterpret_cast<void *>(-1)));
    CHECK(L4_SpaceControl(id(0), 0, L4_FpageLog2(kip, 12), L4_FpageLog2(area, area_log2), L4_nilthread, nullptr));
    Word count = 1, error = 0;
    constexpr Word first = area / utcb_bytes, end = kip / utcb_bytes;
    for (Word index = first; index < end && !error; index++) {
        if (index * golden > 3u << (chain_log2 - 1)) continue; // one chain and a half, which touch three at most
        if (make(count, index)) count++;
        else error = L4_ErrorCode();
    }
    Word elsewhere = first;
    while (elsewhere * golden - other_place > 1u << chain_log2) elsewhere++;
    const bool made = make(count, elsewhere);
    for (Word n = count + 1; n-- > 0;)
        L4_ThreadControl(id(n), L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
    CHECK_EQUAL(error, 6);
    CHECK(count > longest_chain && count <= 2 * longest_chain + 64);
    CHECK(made);
    CHECK_EQUAL(cobnut::audit().faults, 0);
}

} // namespace

const Test robust_tests[] = {
    {"robust.calls_from_large_space", calls_from_large_space},
    {"robust.calls_from_small_space", calls_from_small_space},
    {"robust.privileged_calls", privileged_calls},
    {"robust.wild_utcb", wild_utcb},
    {"robust.wild_stack", wild_stack},
    {"robust.null_gs", null_gs},
    {"robust.null_ds_and_es", null_ds_and_es},
    {"robust.direction_flag", direction_flag},
    {"robust.trap_flag", trap_flag},
    {"robust.nested_task_flag", nested_task_flag},
    {"robust.alignment_check_flag", alignment_check_flag},
    {"robust.foreign_fs_and_gs", foreign_fs_and_gs},
    {"robust.kernel_selector_in_gs", kernel_selector_in_gs},
    {"robust.gates_without_stub", gates_without_stub},
    {"robust.tick_while_it_waits", tick_while_it_waits},
    {"robust.text_of_one_who_moves", text_of_one_who_moves},
    {"robust.utcbs_that_collide", utcbs_that_collide},
    {nullptr, nullptr},
};

} // namespace x2test
