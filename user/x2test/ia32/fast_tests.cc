// SPDX-License-Identifier: BSD-2-Clause
// Calls without timeouts between threads that wait: the kernel's shortest way, where it has most to forget. What the
// caller did to its segment registers and flags must not reach its partner, and the highest thread runs first.
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

/// A space that gets a slot sees nothing of the one that had it before.
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

} // namespace

const Test fast_tests[] = {
    {"fast.caller_leaves_nothing", leaves_nothing},
    {"fast.nested_task_without_wait", nested_task_without_wait},
    {"fast.reused_slot_is_clean", reused_slot_is_clean},
    {"fast.stack_is_not_flat", stack_is_not_flat},
    {nullptr, nullptr},
};

} // namespace x2test
