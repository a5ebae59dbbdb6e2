// SPDX-License-Identifier: BSD-2-Clause
// TlsControl (docs/x2-ia32.md, 14.1): a segment of a thread's own behind FS or GS, no further than its space, and no
// other thread's.
#include "../harness.h"

#include <cobnut/tls.h>
#include <initializer_list>

// What runs with another GS than the library's. ESI: the selector; the result is what it finds behind it.
extern "C" {
x2test::Word x2test_gs_read(x2test::Word selector, x2test::Word offset, x2test::Word);
x2test::Word x2test_fs_read(x2test::Word selector, x2test::Word offset, x2test::Word);
x2test::Word x2test_gs_sides(x2test::Word selector, x2test::Word rounds, x2test::Word);
x2test::Word x2test_gs_astride(x2test::Word selector, x2test::Word, x2test::Word);
x2test::Word x2test_gs_again(x2test::Word selector, x2test::Word, x2test::Word);
x2test::Word x2test_gs_null_data(x2test::Word selector, x2test::Word, x2test::Word);
x2test::Word x2test_gs_watch(x2test::Word selector, x2test::Word word, x2test::Word);
x2test::Word x2test_gs_system(x2test::Word selector, x2test::Word partner, x2test::Word entry);
x2test::Word x2test_stack_segment(x2test::Word selector, x2test::Word, x2test::Word);
x2test::Word x2test_selectors(x2test::Word, x2test::Word, x2test::Word);
constinit volatile x2test::Word watch_stop = 0, watch_rounds = 0;
}
__asm__(".text\n.globl x2test_gs_sides\n"
        "x2test_gs_read: mov %gs, %ecx; mov 4(%esp), %eax; mov 8(%esp), %edx; mov %eax, %gs\n"
        "mov %gs:(%edx), %eax; mov %ecx, %gs; ret\n"
        "x2test_fs_read: mov %fs, %ecx; mov 4(%esp), %eax; mov 8(%esp), %edx; mov %eax, %fs\n"
        "mov %fs:(%edx), %eax; mov %ecx, %fs; ret\n"
        // The sum of the words in front of the base and behind it, `rounds` times; ends in front of it.
        "x2test_gs_sides: mov %gs, %edx; mov 4(%esp), %eax; mov 8(%esp), %ecx; mov %eax, %gs; xor %eax, %eax\n"
        "1: add %gs:0, %eax; add %gs:-4, %eax; dec %ecx; jnz 1b; mov %edx, %gs; ret\n"
        // After one on each side, an access that no side has whole.
        "x2test_gs_astride: mov %gs, %ecx; mov 4(%esp), %eax; mov %eax, %gs; mov %gs:-4, %eax; mov %gs:0, %eax\n"
        "mov %gs:-2, %eax; mov %ecx, %gs; ret\n"
        // An instruction that reads on both sides, twice with the same registers, and others that do so in between.
        "x2test_gs_again: mov %gs, %ecx; mov 4(%esp), %eax; mov %eax, %gs; movl $2, watch_rounds\n"
        "1: mov $-4, %edx; call 2f; xor %edx, %edx; call 2f; mov %gs:-4, %eax; mov %gs:0, %eax\n"
        "decl watch_rounds; jnz 1b; mov %ecx, %gs; ret\n"
        "2: mov %gs:(%edx), %eax; ret\n"
        // With a segment behind GS, an access through DS that is null.
        "x2test_gs_null_data: mov %gs, %ecx; mov 4(%esp), %eax; mov %eax, %gs; xor %eax, %eax; mov %eax, %ds\n"
        "mov watch_rounds, %eax; add %gs:0, %eax; mov %ecx, %gs; ret\n"
        // Reads the segment's first word until it changes or watch_stop: 0 when it never did.
        "x2test_gs_watch: mov %gs, %ecx; mov 4(%esp), %eax; mov 8(%esp), %edx; mov %eax, %gs\n"
        "1: incl watch_rounds; mov %gs:0, %eax; sub %edx, %eax; jnz 2f; cmpl $0, watch_stop; jz 1b\n"
        "2: mov %ecx, %gs; ret\n"
        // GS over a system call (entry 0: int 0x80 to be answered; partner 0: a sleep by IPC, else a call) and the
        // segment's first word.
        "x2test_gs_system: push %ebp; push %ebx; push %esi; push %edi; push %gs; mov %gs:0, %edi\n"
        "mov 24(%esp), %eax; mov %eax, %gs; mov 32(%esp), %ebx; test %ebx, %ebx; jz 1f\n"
        "mov %edi, %edx; mov $0x0E71, %ecx; xor %esi, %esi; mov 28(%esp), %eax; test %eax, %eax; jz 3f\n"
        "mov %eax, %edx; xor %ecx, %ecx\n"
        "3: call *%ebx; jmp 2f\n"
        "1: int $0x80\n"
        "2: mov %gs:0, %eax; pop %gs; pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"
        // The segment as a stack's, without a stack access, until watch_stop.
        "x2test_stack_segment: mov 4(%esp), %eax; mov %ds, %ecx; mov %eax, %ss\n"
        "1: incl watch_rounds; cmpl $0, watch_stop; jz 1b; mov %ecx, %ss; xor %eax, %eax; ret\n"
        "x2test_selectors: xor %eax, %eax; mov %gs, %ax; shl $16, %eax; mov %fs, %ax; ret\n");

namespace x2test {
namespace {

constexpr Word none = ~0u, kernel_utcb_selector = 0x2B;

/// Waits for a message; the result is FS as it is behind it.
Word do_hear(Word, Word, Word)
{
    L4_ThreadId_t from;
    (void)L4_Wait(&from);
    Word fs = 0;
    __asm__ volatile("mov %%fs, %0" : "=r"(fs));
    return fs & 0xffff;
}
/// With the segment behind FS and GS, tells the server by a call of another system's, or by a page fault at `address`.
Word do_tell_with_fs(Word selector, Word server, Word address)
{
    if (address) L4_Set_Pager(L4_ThreadId_t{.raw = server});
    else L4_Set_ExceptionHandler(L4_ThreadId_t{.raw = server});
    if (address)
        __asm__ volatile("mov %0, %%fs; mov %1, %%gs; mov (%2), %%eax"
                         :
                         : "r"(selector), "r"(selector | 3), "r"(address)
                         : "eax");
    else __asm__ volatile("mov %0, %%fs; mov %1, %%gs; int $0x80" : : "r"(selector), "r"(selector | 3));
    return 0;
}

Word do_tls_control(Word dest, Word base, Word)
{
    Word selector = 0;
    return Cobnut_TlsControl(L4_ThreadId_t{.raw = dest}, base, &selector) ? selector : 0;
}
/// Sets the agent's segment from here, its pager; returns the selector.
Word set(const Agent *a, Word base)
{
    Word selector = 0;
    if (!Cobnut_TlsControl(a->id, base, &selector)) fail("TlsControl fails with %u", L4_ErrorCode());
    return selector;
}

/// Each of several threads, also of one space, finds its own storage behind GS and FS.
void own_storage()
{
    CHECK(L4_HasFeature("tlscontrol"));
    Agent *all[4] = {agent(Kind::large), agent(Kind::small), agent(Kind::here)};
    if (!all[0] || !all[1] || !all[2]) return;
    all[3] = agent_beside(all[1]);
    if (!all[3]) return;
    for (Word i = 0; i < 4; i++) {
        for (Word word = 0; word < 1024; word++) (&arena_word(i))[word] = i << 16 | word;
    }
    Word selector = 0;
    for (Word i = 0; i < 4; i++) selector = set(all[i], arena_page(i) + 16);
    for (int round = 0; round < 3; round++)
        for (Word i = 0; i < 4; i++) {
            CHECK_EQUAL(ask(all[i], x2test_gs_read, selector, 0).value, i << 16 | 4);
            CHECK_EQUAL(ask(all[i], x2test_fs_read, selector, 20).value, i << 16 | 9);
        }
    set(all[0], arena_page(0) + 32); // another base
    CHECK_EQUAL(ask(all[0], x2test_gs_read, selector, 0).value, 8);
    CHECK_EQUAL(ask(all[1], x2test_gs_read, selector, 0).value, 1 << 16 | 4);
}

Word do_call(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_Niltag);
    L4_Call(L4_ThreadId_t{.raw = to});
    return L4_Label(L4_MsgTag());
}
/// Waits for calls twice, and reads the first word of its segment in between.
Word do_wait_and_read(Word selector, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    L4_Set_MsgTag(L4_Niltag);
    L4_Ipc(from, L4_anythread, L4_Timeouts(L4_ZeroTime, L4_Never), &from);
    const Word seen = x2test_gs_read(selector, 0, 0);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = seen << 16});
    L4_Reply(from);
    return seen;
}
/// A thread that waits gets its segment, and is called by the shortest way: it has the segment when it goes on.
void set_while_it_waits()
{
    for (const Kind kind : {Kind::large, Kind::small, Kind::here})
        for (const bool answered : {false, true}) {
            Agent *a = agent(kind), *b = agent(Kind::large);
            if (!a || !b) return;
            arena_word(0) = 0x3A17;
            const Word base = kind == Kind::here ? arena_page(0) : free_area;
            if (kind != Kind::here) give_page(a, 0, base, L4_FullyAccessible);
            const Word selector = set(a, base);
            set(a, none);
            begin(a, do_wait_and_read, selector);
            if (answered) ask(b, do_call, a->id.raw); // it waits again, by the shortest way
            pause(3000);
            set(a, base);
            if (!answered) ask(b, do_call, a->id.raw);
            CHECK_EQUAL(ask(b, do_call, a->id.raw).value, 0x3A17);
            CHECK_EQUAL(finish(a).value, 0x3A17);
            remove(a), remove(b);
        }
}

/// GS stays loaded over preemption, while others run with theirs.
void survives_preemption()
{
    watch_stop = 0;
    watch_rounds = 0;
    Agent *a = agent(Kind::small), *b = agent(Kind::here), *c = agent(Kind::large);
    if (!a || !b || !c) return;
    arena_word(0) = 0x7150;
    arena_word(1) = 0x7151;
    give_page(a, 0, free_area, L4_FullyAccessible);
    begin(a, x2test_gs_watch, set(a, free_area), 0x7150);
    begin(b, x2test_gs_watch, set(b, arena_page(1)), 0x7151);
    for (int i = 0; i < 5; i++) {
        pause(30000); // each of the two gets time slices
        CHECK_EQUAL(ask(c, x2test_selectors).value >> 16, kernel_utcb_selector);
    }
    CHECK(watch_rounds > 100);
    watch_stop = 1;
    CHECK_EQUAL(finish(a).value, 0);
    CHECK_EQUAL(finish(b).value, 0);
    CHECK(small_number(a) != 0);
}

/// Answers `count` calls, all but the last by the shortest way.
Word do_answer(Word count, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    while (--count) {
        L4_Set_MsgTag(L4_Niltag);
        L4_Ipc(from, L4_anythread, L4_Timeouts(L4_ZeroTime, L4_Never), &from);
    }
    L4_Set_MsgTag(L4_Niltag);
    L4_Reply(from);
    return 0;
}
/// A call that its partner answers from another space, and meanwhile uses another segment or none.
void survives_calls()
{
    for (const Kind kind : {Kind::large, Kind::small})
        for (const Kind other : {Kind::large, Kind::small}) {
            Agent *a = agent(kind), *b = agent(other);
            if (!a || !b) return;
            arena_word(0) = 0xCA11;
            give_page(a, 0, free_area, L4_FullyAccessible);
            const Word selector = set(a, free_area);
            const Word stub = kip_area + *reinterpret_cast<Word *>(__L4_Kip_Base() + L4_KIP_IPC);
            begin(b, do_answer, 4);
            for (int i = 0; i < 4; i++) CHECK_EQUAL(ask(a, x2test_gs_system, selector, b->id.raw, stub).value, 0xCA11);
            finish(b);
            CHECK_EQUAL((small_number(a) != 0), (kind == Kind::small));
        }
}

void survives_system_calls()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        arena_word(0) = 0x5157;
        give_page(a, 0, free_area, L4_FullyAccessible);
        const Word selector = set(a, free_area);
        // of this kernel, with partners that run meanwhile
        const Word stub = kip_area + *reinterpret_cast<Word *>(__L4_Kip_Base() + L4_KIP_IPC);
        CHECK_EQUAL(ask(a, x2test_gs_system, selector, 0, stub).value, 0x5157);
        // of another system, answered
        begin(a, x2test_gs_system, selector, 0, 0);
        CHECK_EQUAL(finish(a, true).exceptions, 1);
        CHECK_EQUAL(a->out.exception[4], 8 * 0x80 + 2);
        a->out.exceptions = 0;
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
        L4_LoadMR(1, a->out.exception[1] + 2);
        CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
        CHECK_EQUAL(finish(a).value, 0x5157);
        // over a page fault on the storage itself
        L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
        CHECK_EQUAL(ask(a, x2test_gs_read, selector, 0x40).faults, 1);
        CHECK_EQUAL(a->out.fault_address, free_area + 0x40);
        scratch_reset();
        CHECK_EQUAL((small_number(a) != 0), (kind == Kind::small));
    }
}

/// X.2 programs see nothing of it: GS is the UTCB's until a thread loads another, and gs:0 is every other thread's own.
void utcb_stays()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::small), *c = agent(Kind::here);
    if (!a || !b || !c) return;
    const Word selector = set(a, free_area);
    for (Agent *x : {a, b, c}) {
        CHECK_EQUAL(ask(x, x2test_selectors).value >> 16, kernel_utcb_selector);
        CHECK_EQUAL(ask(x, x2test_gs_read, kernel_utcb_selector, 0).value, x->local.raw);
    }
    CHECK_EQUAL(ask(a, x2test_gs_read, selector, 0).faults, 1);
    CHECK_EQUAL(ask(b, x2test_gs_read, kernel_utcb_selector, 0).value, b->local.raw);
}

/// Nor does a server have the segment in FS that tells it something, whatever privilege the selector asks for.
void not_in_servers_fs()
{
    constexpr Word standard = 0x23;
    for (const Word privilege : {Word{3}, Word{0}})
        for (const Word address : {Word{0}, free_area + 0x5000}) {
            Agent *server = agent(Kind::large), *a = agent(Kind::large);
            if (!server || !a) return;
            const Word selector = set(a, free_area);
            begin(server, do_hear);
            pause(1000);
            begin(a, do_tell_with_fs, (selector & ~3u) | privilege, server->id.raw, address);
            CHECK_EQUAL(finish(server).value, standard);
            remove(a), remove(server);
        }
}

/// The selector is worth nothing to threads without a segment, however lately another thread used its own.
void nobody_elses()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind), *b = agent(kind);
        Agent *mate = a ? agent_beside(a) : nullptr;
        if (!a || !b || !mate) return;
        arena_word(0) = 0x0AA0;
        give_page(a, 0, free_area, L4_FullyAccessible);
        const Word selector = set(a, free_area);
        for (Agent *x : {b, mate}) {
            CHECK_EQUAL(ask(a, x2test_gs_read, selector, 0).value, 0x0AA0);
            begin(x, x2test_gs_read, selector, 0);
            CHECK_EQUAL(finish(x, true).exceptions, 1);
            CHECK_EQUAL(x->out.exception[3], 13);
            CHECK_EQUAL(x->out.exception[4], selector & ~7u);
        }
        set(a, none);
        begin(a, x2test_gs_read, selector, 0);
        CHECK_EQUAL(finish(a, true).exceptions, 1);
    }
}

void permission()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::other);
    Agent *mate = a ? agent_beside(a) : nullptr;
    if (!a || !b || !mate) return;
    CHECK(ask(mate, do_tls_control, a->id.raw, free_area).value != 0);
    CHECK(ask(mate, do_tls_control, a->local.raw, free_area).value != 0);
    CHECK(ask(a, do_tls_control, a->id.raw, none).value != 0);
    CHECK_EQUAL(ask(b, do_tls_control, a->id.raw, free_area).value, 0);
    CHECK_EQUAL(b->out.error, 1);
    CHECK_EQUAL(ask(b, do_tls_control, unused_id().raw, free_area).value, 0);
    CHECK_EQUAL(b->out.error, 2);
    CHECK_EQUAL(ask(b, do_tls_control, b->id.raw, 0xF0000000).value, 0);
    CHECK_EQUAL(b->out.error, 5);
    const auto set_pager = [](Word pager, Word, Word) {
        L4_Set_Pager(L4_ThreadId_t{.raw = pager});
        return Word{0};
    };
    ask(a, set_pager, b->id.raw);
    CHECK(ask(b, do_tls_control, a->id.raw, free_area).value != 0);
    ask(a, set_pager, main_id.raw);
}

/// The space changes between small and large under a loaded segment.
void space_changes()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    arena_word(0) = 0x51CE;
    arena_word(1) = 0xFA5;
    give_page(a, 0, free_area, L4_FullyAccessible);
    const Word selector = set(a, free_area);
    for (int i = 0; i < 3; i++) {
        CHECK(make_small(a, a->index));
        CHECK_EQUAL(ask(a, x2test_gs_read, selector, 0).value, 0x51CE);
        make_large(a);
        CHECK_EQUAL(ask(a, x2test_gs_read, selector, 0).value, 0x51CE);
    }
    // A base past the slot: the space is large before the thread runs.
    CHECK(make_small(a, a->index));
    set(a, beyond_small);
    ask(a, do_nothing);
    CHECK_EQUAL(small_number(a), 0);
    give_page(a, 1, beyond_small, L4_FullyAccessible);
    CHECK_EQUAL(ask(a, x2test_gs_read, selector, 0).value, 0xFA5);
}

/// Interrupted with the segment in SS, and robbed of it: SS is an ordinary one when the thread goes on.
void as_stack_segment()
{
    for (const Kind kind : {Kind::large, Kind::small}) {
        watch_stop = 0;
        watch_rounds = 0;
        Agent *a = agent(kind);
        if (!a) return;
        begin(a, x2test_stack_segment, set(a, free_area));
        pause(30000);
        const Word rounds = watch_rounds;
        CHECK(rounds > 0);
        set(a, none);
        pause(30000);
        CHECK(watch_rounds != rounds);
        watch_stop = 1;
        CHECK(finish(a).done);
    }
}

/// limits=1: offsets on both sides of the base, as compilers use them.
void both_sides()
{
    if (!wish.limits) return;
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        for (Word word = 0; word < 1024; word++) (&arena_word(0))[word] = 0xB0000 + word;
        give_page(a, 0, free_area, L4_FullyAccessible);
        const Word selector = set(a, free_area + 2048);
        for (int i = 0; i < 4; i++) {
            CHECK_EQUAL(ask(a, x2test_gs_read, selector, 0).value, 0xB0000 + 512);
            CHECK_EQUAL(ask(a, x2test_gs_read, selector, -4u).value, 0xB0000 + 511);
            CHECK_EQUAL(ask(a, x2test_gs_read, selector, -2048u).value, 0xB0000);
            CHECK_EQUAL(ask(a, x2test_gs_read, selector, 2044).value, 0xB0000 + 1023);
        }
        CHECK_EQUAL((small_number(a) != 0), (kind == Kind::small));
    }
}

/// limits=1: the same at different places of the program, by threads in turn, whose space is moved, made large and
/// small while their segments face in front of their bases.
void sides_in_turn()
{
    if (!wish.limits) return;
    constexpr Word rounds = 5;
    Agent *a = agent(Kind::large);
    Agent *mate = a ? agent_beside(a) : nullptr;
    if (!a || !mate) return;
    for (Word word = 0; word < 1024; word++) (&arena_word(0))[word] = 1u << word / 256 * 8;
    give_page(a, 0, free_area, L4_FullyAccessible);
    // Each sum is of a word on either side.
    const Word selector = set(a, free_area + 1024);
    set(mate, free_area + 3072);
    for (Word slot = 0; slot < 4; slot++) {
        for (int i = 0; i < 2; i++) {
            CHECK_EQUAL(ask(a, x2test_gs_sides, selector, rounds).value, rounds * 0x101);
            CHECK_EQUAL(ask(mate, x2test_gs_sides, selector, rounds).value, rounds * 0x1010000);
        }
        if (slot % 2) {
            make_large(a);
            CHECK_EQUAL(ask(mate, x2test_gs_sides, selector, rounds).value, rounds * 0x1010000);
        }
        CHECK(make_small(a, slot));
    }
}

/// limits=1: an access that the segment has on neither side whole ends in an exception, and one through another segment
/// is no access through this one: a null selector in DS is repaired as it is without. One that comes again is
/// neither.
void neither_side()
{
    if (!wish.limits) return;
    for (const Kind kind : {Kind::large, Kind::small}) {
        Agent *a = agent(kind);
        if (!a) return;
        watch_rounds = 0x1000;
        arena_word(0) = 0xA57;
        (&arena_word(0))[512] = 0xB51;
        give_page(a, 0, free_area, L4_FullyAccessible);
        const Word selector = set(a, free_area);
        CHECK_EQUAL(ask(a, x2test_gs_null_data, selector).value, 0x1A57);
        CHECK_EQUAL((small_number(a) != 0), (kind == Kind::small));
        set(a, free_area + 2048);
        CHECK_EQUAL(ask(a, x2test_gs_again, selector).value, 0xB51);
        begin(a, x2test_gs_astride, selector);
        CHECK_EQUAL(finish(a, true).exceptions, 1);
        CHECK_EQUAL(a->out.exception[3], 13);
        CHECK_EQUAL(a->out.exception[4], 0);
    }
}

/// To offset 0x40 of segment 0x1B, which would be user code's selector, by an iret to virtual 8086 mode.
Word do_halt_in_virtual_8086(Word selector, Word, Word)
{
    __asm__ volatile("mov %0, %%fs; pushl $0; pushl $0; pushl $0; pushl $0\n"
                     "mov %%ss, %%edi; pushl %%edi; pushl %%esp; pushl $0x20202; pushl $0x1B; pushl $0x40; iret"
                     :
                     : "r"(selector)
                     : "edi", "memory");
    return 8086;
}
/// A fault in a mode in which segments mean nothing turns none: its entry saves four more words. Only an emulator
/// follows the iret.
void not_from_virtual_8086_mode()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::other);
    if (!a || !b) return;
    (&arena_word(0))[(0x1B0 + 0x40) / sizeof(Word)] = 0xF4; // hlt
    give_page(a, 0, 0, L4_FullyAccessible);
    // a version that the entry takes, four words off, for one that holds a segment
    const L4_ThreadId_t before = a->id;
    a->id = L4_GlobalId(L4_ThreadNo(before), L4_Version(before) | 0x200);
    CHECK(L4_ThreadControl(a->id, before, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    begin(a, do_halt_in_virtual_8086, set(a, free_area));
    CHECK(!finish(a, true).done);
    CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
    remove(a), remove(b);
}

/// With the segment in GS, calls the last byte of the space.
Word do_run_off(Word selector, Word end, Word)
{
    __asm__ volatile("mov %0, %%gs; call *%1" : : "r"(selector), "r"(end - 1) : "memory");
    return 0;
}
/// limits=1: a thread that runs off the end of its CS, where no iret goes: past a slot it is in the large space that
/// the small one becomes; else it has an exception.
void runs_off_the_end()
{
    if (!wish.limits) return;
    constexpr Word small_end = 16 << 20, largest_end = 0xC0000000;
    const Word area = 0xF0000000 - (wish.area_mb << 20), large_end = area < largest_end ? area : largest_end;
    for (const Kind kind : {Kind::small, Kind::large}) {
        Agent *a = agent(kind), *b = agent(Kind::other);
        if (!a || !b) return;
        const Word end = small_number(a) ? small_end : large_end;
        arena[page_size - 1] = 0x90; // nop
        give_page(a, 0, end - page_size, L4_FullyAccessible);
        begin(a, do_run_off, set(a, free_area), end);
        const Outcome &out = finish(a, true);
        CHECK_EQUAL(small_number(a), 0);
        if (end == small_end) {
            CHECK_EQUAL(out.fault_address, end);
        } else {
            CHECK_EQUAL(out.exception[3], 13);
            CHECK_EQUAL(out.exception[1], end);
        }
        CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
        remove(a), remove(b);
    }
}

/// limits=1: past a slot, by either side's way, is inside the large space that the small one becomes.
void promoted_by_access()
{
    if (!wish.limits) return;
    Agent *a = agent(Kind::small);
    if (!a) return;
    const Word selector = set(a, free_area);
    CHECK_EQUAL(ask(a, x2test_gs_read, selector, beyond_small + 0x124 - free_area).faults, 1);
    CHECK_EQUAL(a->out.fault_address, beyond_small + 0x124);
    CHECK_EQUAL(small_number(a), 0);
}

/// limits=1: on neither side does the segment reach past the space; small spaces' neighbours and hosts are out of
/// reach.
void ends_with_space()
{
    if (!wish.limits) return;
    Agent *host = agent(Kind::large), *a = agent(Kind::large), *b = agent(Kind::large);
    if (!host || !a || !b) return;
    L4_SpaceControl(b->id, L4_SmallSpaceChange | L4_SmallSpace(16, 16), L4_Nilpage, L4_Nilpage, L4_nilthread, nullptr);
    CHECK(small_number(b) != 0);
    arena_word(0) = 0x5EC2E7;
    give_page(b, 0, free_area, L4_FullyAccessible);
    give_page(host, 0, free_area, L4_FullyAccessible);
    const Word area = 0xF0000000 - (wish.area_mb << 20), base = free_area + 0x8000;
    const Word secret = area + (16 << 20) + free_area; // b's page, as the page directory in force has it
    const Word selector = set(host, base);
    for (const Word offset : {secret - base, Word{0xF0100000} - base}) { // from a large space
        ask(host, do_nothing);
        CHECK_EQUAL(ask(b, do_read, free_area).value, 0x5EC2E7); // its entry stands in the host's directory
        Agent *x = agent_beside(host);
        if (!x) return;
        CHECK_EQUAL(set(x, base), selector);
        begin(x, x2test_gs_read, selector, offset);
        const Outcome &out = finish(x, true);
        CHECK_EQUAL(out.exceptions, 1);
        CHECK_EQUAL(out.exception[3], 13);
        remove(x);
    }
    // From a small one below b and one above: first the space becomes large, then it is out of reach still.
    for (const Word slot : {Word{0}, Word{32}}) {
        CHECK(make_small(a, slot / 16));
        ask(host, do_nothing);
        CHECK_EQUAL(ask(b, do_read, free_area).value, 0x5EC2E7);
        Agent *x = agent_beside(a);
        if (!x) return;
        set(x, base);
        begin(x, x2test_gs_read, selector, secret - (area + (slot << 20)) - base);
        const Outcome &out = finish(x, true);
        CHECK(!(out.done && out.value == 0x5EC2E7));
        CHECK_EQUAL(small_number(a), 0);
        remove(x);
    }
}

} // namespace

const Test tls_tests[] = {
    {"tls.own_storage", own_storage},
    {"tls.set_while_it_waits", set_while_it_waits},
    {"tls.survives_preemption", survives_preemption},
    {"tls.survives_calls", survives_calls},
    {"tls.survives_system_calls", survives_system_calls},
    {"tls.utcb_stays", utcb_stays},
    {"tls.nobody_elses", nobody_elses},
    {"tls.not_in_servers_fs", not_in_servers_fs},
    {"tls.permission", permission},
    {"tls.space_changes", space_changes},
    {"tls.as_stack_segment", as_stack_segment},
    {"tls.both_sides", both_sides},
    {"tls.sides_in_turn", sides_in_turn},
    {"tls.neither_side", neither_side},
    {"tls.not_from_virtual_8086_mode", not_from_virtual_8086_mode},
    {"tls.runs_off_the_end", runs_off_the_end},
    {"tls.promoted_by_access", promoted_by_access},
    {"tls.ends_with_space", ends_with_space},
    {nullptr, nullptr},
};

} // namespace x2test
