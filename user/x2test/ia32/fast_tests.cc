// SPDX-License-Identifier: BSD-2-Clause
// Calls without timeouts between threads that wait: the kernel's shortest way, where it has most to forget. What the
// caller did to its segment registers and flags must not reach its partner, and whoever should run first runs first.
#include "../harness.h"

extern "C" {
x2test::Word x2test_fast_call(x2test::Word server, x2test::Word state, x2test::Word expected);
x2test::Word x2test_fast_serve(x2test::Word client, x2test::Word expected, x2test::Word);
x2test::Word x2test_fast_probe(x2test::Word server, x2test::Word address, x2test::Word);
x2test::Word x2test_poll_nested(x2test::Word, x2test::Word, x2test::Word);
}
// Both return which of these are wrong after the system call: 1 DF set, 2 TF set, 4 gs:0, 8/16/32/64 the word at
// free_area through DS, ES, FS, SS. While they run: stub's address at (%esp), own UTCB address at 4(%esp), arguments
// from 28(%esp).
__asm__(".macro fast_enter\n"
        "push %ebp; push %ebx; push %esi; push %edi\n"
        "call __L4_Kip_Base\n"
        "mov %eax, %ebx; add 0xE0(%eax), %ebx\n"
        "push %gs:0; push %ebx\n"
        "xor %ecx, %ecx; xor %esi, %esi; mov 4(%esp), %edi\n"
        ".endm\n"
        ".text\n"
        "x2test_fast_call: fast_enter\n"
        "mov 28(%esp), %eax; mov %eax, %edx; mov 32(%esp), %ebp\n"
        "jmp *fast_table(,%ebp,4)\n"
        "fast_df: std\n"
        "fast_plain: call *(%esp)\n"
        "fast_called: mov 36(%esp), %edx; call fast_look\n"
        "fast_leave: add $8, %esp; pop %edi; pop %esi; pop %ebx; pop %ebp; ret\n"
        // The stub's work, so that nothing stands between TF and sysenter; plainly where the stub is a gate.
        "fast_tf: cmpb $0xCD, (%ebx); je fast_plain\n"
        "push %cs; push $fast_called; pushf; orl $0x100, (%esp)\n"
        "lea 4(%esp), %ebp; mov $fast_called, %ebx; popf; sysenter\n"
        "fast_gs_null: xor %ebp, %ebp; mov %ebp, %gs; jmp fast_plain\n"
        "fast_gs_data: mov %ds, %ebp; mov %ebp, %gs; jmp fast_plain\n"
        "fast_es_null: xor %ebp, %ebp; mov %ebp, %es; jmp fast_plain\n"
        "fast_ds_gs: mov %gs, %ebp; mov %ebp, %es; mov %ebp, %fs; mov %ebp, %ds; jmp fast_plain\n"
        "fast_code: mov %cs, %ebp; mov %ebp, %es; mov %ebp, %fs; mov %ebp, %ds; jmp fast_plain\n"

        // Reads through SS at an address after a call.
        "x2test_fast_probe: fast_enter\n"
        "mov 28(%esp), %eax; mov %eax, %edx; call *(%esp)\n"
        "mov 32(%esp), %ecx; mov %ss:(%ecx), %eax; jmp fast_leave\n"

        // With NT set, a receive that does not wait.
        "x2test_poll_nested: fast_enter\n"
        "xor %eax, %eax; mov %edi, %edx; mov $0x0400, %ecx\n"
        "pushf; orl $0x4000, (%esp); popf; call *(%esp); pushf; andl $~0x4000, (%esp); popf\n"
        "xor %eax, %eax; jmp fast_leave\n"

        "x2test_fast_serve: fast_enter\n"
        "xor %eax, %eax; mov 28(%esp), %edx; call *(%esp)\n"
        "mov 32(%esp), %edx; call fast_look; push %eax\n"
        "mov 32(%esp), %eax; xor %edx, %edx; xor %ecx, %ecx; xor %esi, %esi; mov 8(%esp), %edi; call *4(%esp)\n"
        "pop %eax; jmp fast_leave\n"

        // EDX: the word expected at free_area.
        "fast_look: pushf; pop %ecx; cld; xor %eax, %eax\n"
        "test $0x400, %ecx; jz 1f; or $1, %eax; 1: test $0x100, %ecx; jz 1f; or $2, %eax\n"
        "1: mov %gs:0, %ecx; cmp 8(%esp), %ecx; je 1f; or $4, %eax\n"
        "1: mov $0x00A00000, %ecx\n"
        "cmp %edx, %ds:(%ecx); je 1f; or $8, %eax; 1: cmp %edx, %es:(%ecx); je 1f; or $16, %eax\n"
        "1: cmp %edx, %fs:(%ecx); je 1f; or $32, %eax; 1: cmp %edx, %ss:(%ecx); je 1f; or $64, %eax; 1: ret\n"
        ".section .rodata\n"
        "fast_table: .long fast_plain, fast_df, fast_tf, fast_gs_null, fast_gs_data, fast_es_null, fast_ds_gs\n"
        ".long fast_code\n"
        ".text\n");

namespace x2test {
namespace {

constexpr Word states = 8, first_limited_state = 5;
constexpr Kind both[] = {Kind::large, Kind::small};
constexpr Word page_word = 0xC0DE0000; // at free_area in page n of the arena: plus n

Agent *agent_with_page(Kind kind, Word n)
{
    Agent *a = agent(kind);
    if (!a) return nullptr;
    arena_word(n) = page_word + n;
    give_page(a, n, free_area, L4_FullyAccessible);
    return a;
}

void set_priority(const Agent *a, Word priority) { L4_Set_Priority(a->id, priority); }

void caller_leaves_nothing(Kind client_kind, Kind server_kind)
{
    for (Word state = 0; state < states; state++) {
        // Between large spaces the kernel leaves unusable data segments to the fault that they raise.
        if (state >= first_limited_state && server_kind == Kind::large && !wish.limits) continue;
        Agent *client = agent_with_page(client_kind, 1), *server = agent_with_page(server_kind, 2);
        if (!client || !server) return;
        begin(server, x2test_fast_serve, client->id.raw, page_word + 2);
        pause(1000);
        begin(client, x2test_fast_call, server->id.raw, state, page_word + 1);
        const Outcome &served = finish(server);
        // A wrong GS may show as a fault at address 0, and be right afterwards.
        if (served.value || served.faults) fail("state %u: the server finds %x wrong", state, served.value);
        const Outcome &called = finish(client);
        // Its own flags are its own affair: undefined after a system call.
        if (called.value & ~3u) fail("state %u: the client finds %x wrong", state, called.value);
        remove(client);
        remove(server);
    }
}
void leaves_nothing()
{
    for (const Kind client : both)
        for (const Kind server : both) caller_leaves_nothing(client, server);
}

volatile Word flag;
Word do_raise_flag(Word, Word, Word)
{
    flag = 1;
    return 0;
}
Word do_call(Word partner, Word, Word) { return L4_Call(L4_ThreadId_t{.raw = partner}).raw; }
Word do_receive_and_look(Word client, Word, Word)
{
    L4_Receive(L4_ThreadId_t{.raw = client});
    const Word seen = flag;
    L4_Set_MsgTag(L4_Niltag);
    L4_Send(L4_ThreadId_t{.raw = client});
    return seen;
}

/// The receiver of a call runs at once only if nobody better is ready.
void better_thread_first()
{
    Agent *client = agent(Kind::other), *server = agent(Kind::other), *better = agent(Kind::other);
    if (!client || !server || !better) return;
    // First of all: a thread that Schedule has looked at is no longer called the short way.
    set_priority(server, 50);
    set_priority(better, 70);
    set_priority(client, 100);
    begin(server, do_receive_and_look, client->id.raw);
    pause(1000);
    flag = 0;
    begin(better, do_raise_flag);
    begin(client, do_call, server->id.raw);
    CHECK_EQUAL(finish(server).value, 1);
}

Word do_reply_to_first_of_two(Word, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    for (int served = 0; served < 2; served++) {
        L4_Set_MsgTag(L4_Niltag);
        L4_ThreadSwitch(L4_nilthread); // the other one gets into the queue
        if (served == 0) L4_ReplyWait(from, &from);
        else L4_Reply(from);
    }
    return 0;
}

/// Who waits for anybody takes a queued sender instead of waiting.
void queued_sender_is_taken()
{
    Agent *server = agent(Kind::other), *first = agent(Kind::other), *second_one = agent(Kind::other);
    if (!server || !first || !second_one) return;
    begin(server, do_reply_to_first_of_two);
    pause(1000);
    begin(first, do_call, server->id.raw);
    begin(second_one, do_call, server->id.raw);
    finish(server);
    CHECK(finish(first).done);
    CHECK(finish(second_one).done);
}

Word do_words(Word partner, Word count, Word)
{
    for (Word i = 1; i <= count; i++) L4_LoadMR(static_cast<int>(i), 0xABC00 + i);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x77u << 16 | count});
    L4_MsgTag_t tag = L4_Call(L4_ThreadId_t{.raw = partner});
    if (tag.raw != (0x78u << 16 | count)) return 1000;
    for (Word i = 1; i <= count; i++) {
        Word word;
        L4_StoreMR(static_cast<int>(i), &word);
        if (word != 0xABC01 + i) return i;
    }
    return 0;
}
Word do_increment_words(Word client, Word, Word)
{
    L4_MsgTag_t tag = L4_Receive(L4_ThreadId_t{.raw = client});
    for (;;) {
        const Word count = L4_UntypedWords(tag);
        for (Word i = 1; i <= count; i++) {
            Word word;
            L4_StoreMR(static_cast<int>(i), &word);
            L4_LoadMR(static_cast<int>(i), word + 1);
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x78u << 16 | count});
        tag = L4_Call(L4_ThreadId_t{.raw = client});
    }
}
void all_sizes()
{
    for (const Kind client_kind : both)
        for (const Kind server_kind : both) {
            Agent *client = agent(client_kind), *server = agent(server_kind);
            if (!client || !server) return;
            begin(server, do_increment_words, client->id.raw);
            pause(1000);
            for (Word count = 0; count < 64; count++) CHECK_EQUAL(ask(client, do_words, server->id.raw, count).value, 0);
            remove(client);
            remove(server);
        }
}

/// The kernel returns by an iret that knows no nested tasks.
void nested_task_without_wait()
{
    for (const Kind kind : both) {
        Agent *a = agent(kind);
        if (!a) return;
        CHECK(ask(a, x2test_poll_nested).done);
        remove(a);
    }
}

/// Who gets a slot sees nothing of who had it.
void reused_slot_is_clean()
{
    Agent *first = agent_with_page(Kind::large, 1), *next = agent_with_page(Kind::large, 2);
    if (!first || !next) return;
    constexpr Word slot = 2; // the agents' own are 0 and 1
    for (int turn = 0; turn < 4; turn++) {
        CHECK(make_small(first, slot));
        CHECK_EQUAL(ask(first, do_read, free_area).value, page_word + 1);
        CHECK(L4_SpaceControl(first->id, L4_SmallSpaceChange, L4_Nilpage, L4_Nilpage, L4_nilthread, nullptr) != 0);
        CHECK(make_small(next, slot));
        CHECK_EQUAL(ask(next, do_read, free_area).value, page_word + 2);
        CHECK(L4_SpaceControl(next->id, L4_SmallSpaceChange, L4_Nilpage, L4_Nilpage, L4_nilthread, nullptr) != 0);
    }
}

[[noreturn]] void elsewhere()
{
    flag = 7;
    for (;;) L4_Sleep(second);
}
Word do_answer_and_wait(Word client, Word, Word)
{
    L4_Receive(L4_ThreadId_t{.raw = client});
    L4_Set_MsgTag(L4_Niltag);
    L4_ThreadId_t from;
    L4_ReplyWait(L4_ThreadId_t{.raw = client}, &from);
    return 0;
}

/// A thread whose IP was exchanged during its call goes on there, also if the answer comes the short way.
void exchanged_ip_counts()
{
    Agent *client = agent(Kind::here), *server = agent(Kind::here);
    if (!client || !server) return;
    begin(client, do_call, server->id.raw); // not received yet
    pause(1000);
    flag = 0;
    L4_Word_t control, sp, ip, flags, handle;
    L4_ThreadId_t pager;
    L4_ExchangeRegisters(client->id, 0x18, stack_of(client) - 1024, reinterpret_cast<Word>(elsewhere), 0, 0, L4_nilthread,
                         &control, &sp, &ip, &flags, &handle, &pager);
    begin(server, do_answer_and_wait, client->id.raw);
    pause(3000);
    CHECK_EQUAL(flag, 7);
}

/// A thread number that was tried before it existed is found when it does.
void numbers_far_apart()
{
    for (Word number = 2000; number < 200000; number += 49000) {
        const L4_ThreadId_t far = L4_GlobalId(number, 1);
        L4_Set_MsgTag(L4_Niltag);
        CHECK(L4_IpcFailed(L4_Call(far)));
        CHECK(L4_ThreadControl(far, far, main_id, L4_nilthread, reinterpret_cast<void *>(-1)) != 0);
        L4_Word_t old;
        CHECK_EQUAL(L4_Schedule(far, ~0u, ~0u, ~0u, ~0u, &old), 2);
        CHECK(L4_ThreadControl(far, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)) != 0);
        CHECK(L4_IpcFailed(L4_Call(far)));
    }
}

/// A large space's stack segment ends where it should after the shortest way back, too: the kernel leaves by an
/// instruction that makes it flat. Felt only where limits are enforced.
void stack_is_not_flat()
{
    if (!wish.limits) return;
    Agent *client = agent(Kind::large), *server = agent(Kind::large), *small = agent_with_page(Kind::small, 1);
    if (!client || !server || !small) return;
    begin(server, do_increment_words, client->id.raw);
    pause(1000);
    CHECK_EQUAL(ask(small, do_read, free_area).value, page_word + 1);
    const Word slot = 0xF0000000 - (wish.area_mb << 20) + small->index * 0x01000000;
    begin(client, x2test_fast_probe, server->id.raw, slot + free_area);
    finish(client, true);
    CHECK(!client->out.done && !client->out.faults);
    CHECK_EQUAL(client->out.exceptions, 1);
}

// What a thread took from itself it does not have any longer, though the processor may remember: no switch between.
Word do_use_flush_use(Word address, Word, Word)
{
    do_write(address, 1, 0);
    do_flush(page_at(address, L4_FullyAccessible).raw, 0x40, 0);
    do_read(address, 0, 0); // a write would fault already where only the right to write is gone
    return 0;
}
Word do_write_protect_write(Word address, Word, Word)
{
    do_write(address, 1, 0);
    do_flush(page_at(address, L4_Writable).raw, 0x40, 0);
    do_write(address, 2, 0);
    return 0;
}
Word do_status_twice(Word address, Word, Word)
{
    do_write(address, 1, 0);
    do_flush(page_at(address, 0).raw, 0, 0);
    do_write(address, 2, 0);
    return do_flush(page_at(address, 0).raw, 0, 0) & 7;
}
void own_flush_is_felt()
{
    for (const Kind kind : both) {
        Agent *a = agent_with_page(kind, 3);
        if (!a) return;
        CHECK(ask(a, do_use_flush_use, free_area).faults != 0);
        scratch_reset();
        remove(a);
    }
}
void own_protection_is_felt()
{
    for (const Kind kind : both) {
        Agent *a = agent_with_page(kind, 3);
        if (!a) return;
        CHECK(ask(a, do_write_protect_write, free_area).faults != 0);
        scratch_reset();
        remove(a);
    }
}
void status_is_noted_again()
{
    for (const Kind kind : both) {
        Agent *a = agent_with_page(kind, 3);
        if (!a) return;
        CHECK_EQUAL(ask(a, do_status_twice, free_area).value, L4_FullyAccessible);
        remove(a);
    }
}

} // namespace

const Test fast_tests[] = {
    {"fast.caller_leaves_nothing", leaves_nothing},
    {"fast.better_thread_first", better_thread_first},
    {"fast.queued_sender_is_taken", queued_sender_is_taken},
    {"fast.all_sizes", all_sizes},
    {"fast.nested_task_without_wait", nested_task_without_wait},
    {"fast.reused_slot_is_clean", reused_slot_is_clean},
    {"fast.exchanged_ip_counts", exchanged_ip_counts},
    {"fast.numbers_far_apart", numbers_far_apart},
    {"fast.stack_is_not_flat", stack_is_not_flat},
    {"fast.own_flush_is_felt", own_flush_is_felt},
    {"fast.own_protection_is_felt", own_protection_is_felt},
    {"fast.status_is_noted_again", status_is_noted_again},
    {nullptr, nullptr},
};

} // namespace x2test
