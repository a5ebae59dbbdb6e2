// SPDX-License-Identifier: BSD-2-Clause
// Cases that a hostile reading of the kernel turned up, each of which once did harm.
#include "harness.h"

#include <cobnut/audit.h>
#include <l4/misc.h>

namespace x2test {
namespace {

const auto unchanged = reinterpret_cast<void *>(-1);

/// Finishes an agent whose function may take long.
bool done_soon(Agent *a)
{
    for (int tries = 0; tries < 8 && !a->out.done && !a->out.exceptions; tries++) finish(a, true);
    return a->out.done;
}

Word do_acknowledge_with_item(Word irq, Word, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, 8);
    L4_LoadMR(2, 0);
    return L4_Send_Timeout(L4_ThreadId_t{.raw = irq}, L4_ZeroTime).raw;
}
/// An interrupt thread runs nothing, whatever it is sent.
void bad_acknowledgement()
{
    const L4_ThreadId_t line3 = L4_GlobalId(3, 1);
    Agent *a = agent(Kind::large);
    if (!a) return;
    CHECK(L4_AssociateInterrupt(line3, a->id));
    const Word tag = ask(a, do_acknowledge_with_item, line3.raw).value;
    pause(3000);
    CHECK(L4_DeassociateInterrupt(line3));
    CHECK(tag & 0x8000);
}

Word do_send_propagated(Word client, Word server, Word)
{
    L4_Set_VirtualSender(L4_ThreadId_t{.raw = server});
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x55u << 16 | 0x1000});
    return L4_Send_Timeout(L4_ThreadId_t{.raw = client}, second).raw;
}
Word do_wait_later(Word, Word, Word)
{
    L4_Sleep(L4_TimePeriod(8000));
    L4_ThreadId_t from;
    L4_Wait(&from);
    L4_Sleep(second);
    return 1;
}
Word do_call_later(Word server, Word, Word)
{
    L4_Sleep(L4_TimePeriod(20000));
    L4_Set_MsgTag(L4_Niltag);
    return L4_Call(L4_ThreadId_t{.raw = server}).raw;
}
/// A message queued in the partner's name is found by a call to the partner.
void queued_in_partners_name()
{
    Agent *server = agent(Kind::large), *client = agent(Kind::large);
    if (!server || !client) return;
    Agent *mate = agent_beside(server);
    if (!mate) return;
    begin(server, do_wait_later);
    begin(client, do_call_later, server->id.raw);
    pause(1000);
    begin(mate, do_send_propagated, client->id.raw, server->id.raw);
    CHECK(done_soon(client));
    CHECK_EQUAL(client->out.value, 0x551000);
}

Word do_send_to(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_Niltag);
    return L4_IpcFailed(L4_Send(L4_ThreadId_t{.raw = to})) ? L4_ErrorCode() : 0;
}
Word do_sleep_then_wait(Word, Word, Word)
{
    L4_Sleep(short_time);
    L4_ThreadId_t from;
    return L4_Wait_Timeout(short_time, &from).raw;
}
L4_ThreadId_t new_version(Agent *a)
{
    const L4_ThreadId_t fresh = L4_GlobalId(L4_ThreadNo(a->id), 99);
    if (!L4_ThreadControl(fresh, a->id, L4_nilthread, L4_nilthread, unchanged)) fail("no new version");
    a->id = fresh;
    return fresh;
}
/// A thread that waits to send to an id that ends is told so.
void senders_to_an_old_version()
{
    Agent *receiver = agent(Kind::large), *sender = agent(Kind::large);
    if (!receiver || !sender) return;
    begin(receiver, do_sleep_then_wait);
    begin(sender, do_send_to, receiver->id.raw);
    pause(2000);
    new_version(receiver);
    CHECK(done_soon(sender));
    CHECK_EQUAL(sender->out.value, 4);
}
/// A thread that waits for its start waits on under its new id.
void new_version_before_the_start()
{
    Agent *a = create(L4_nilthread, Kind::large);
    if (!a) return;
    new_version(a);
    L4_ThreadId_t from;
    CHECK(L4_IpcFailed(L4_Wait_Timeout(short_time, &from)));
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, 0x1000);
    L4_LoadMR(2, stack_of(a));
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
}

Word do_schedule(Word who, Word, Word)
{
    L4_Word_t old;
    return L4_Schedule(L4_ThreadId_t{.raw = who}, ~0u, ~0u, 1, ~0u, &old);
}
/// A local id that names no thread here gives no right elsewhere.
void scheduler_that_names_nobody()
{
    Agent *stranger = agent(Kind::large);
    if (!stranger) return;
    const L4_ThreadId_t victim = unused_id();
    CHECK(!L4_ThreadControl(victim, victim, stranger->local, L4_nilthread, unchanged));
    CHECK_EQUAL(L4_ErrorCode(), 4);
    CHECK_EQUAL(ask(stranger, do_schedule, victim.raw).value, 0);
}

/// More moves of a space's areas than the kernel has pages.
void moving_areas_loses_no_memory()
{
    constexpr Word rounds = 6000;
    const L4_ThreadId_t owner = unused_id(), guest = L4_GlobalId(L4_ThreadNo(owner) + 1, 1);
    CHECK(L4_ThreadControl(owner, owner, main_id, L4_nilthread, unchanged));
    L4_Fpage_t area = L4_Nilpage;
    for (Word n = 0; n < rounds; n++) {
        const Word utcbs = 0x800000 + (n & 1) * 0x100000, kip = 0x800000 + (~n & 1) * 0x100000;
        area = L4_FpageLog2(utcbs, 12);
        CHECK(Cobnut_SpaceControl(owner, 0, L4_FpageLog2(kip, 12), &area, L4_nilthread, nullptr));
    }
    CHECK(L4_ThreadControl(guest, owner, main_id, main_id, reinterpret_cast<void *>(L4_Address(area))));
    L4_ThreadControl(guest, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    L4_ThreadControl(owner, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
}

/// Once a thread has been active the areas stay where they are, also when there is none any more: pages may have been
/// mapped to where they would go.
void areas_stay_without_threads()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    const L4_ThreadId_t owner = unused_id();
    CHECK(L4_ThreadControl(owner, a->id, main_id, L4_nilthread, unchanged)); // inactive, it keeps the space
    give_page(a, 0, free_area, L4_FullyAccessible);
    const Word utcb = a->utcb;
    remove(a);
    L4_Fpage_t elsewhere = L4_FpageLog2(free_area, 12);
    CHECK(Cobnut_SpaceControl(owner, 0, L4_FpageLog2(free_area + page_size, 12), &elsewhere, L4_nilthread, nullptr));
    CHECK(!L4_ThreadControl(owner, owner, main_id, main_id, reinterpret_cast<void *>(free_area)));
    CHECK_EQUAL(L4_ErrorCode(), 6);
    CHECK(L4_ThreadControl(owner, owner, main_id, main_id, reinterpret_cast<void *>(utcb)));
    CHECK_EQUAL(cobnut::audit().faults, 0);
    L4_ThreadControl(owner, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
}

volatile Word revived; ///< set by the thread that goes on
[[noreturn]] void life_after()
{
    revived = 1;
    for (;;) L4_Sleep(second);
}
Word do_undefined_without_handler(Word, Word, Word)
{
    L4_Set_ExceptionHandler(L4_nilthread);
    __builtin_trap();
}
/// A thread without an exception handler is halted (manual 7.5): it can be set going elsewhere.
void halted_thread_goes_on()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    revived = 0;
    begin(a, do_undefined_without_handler);
    pause(3000);
    L4_Word_t control, sp, ip, flags, handle, old;
    L4_ThreadId_t pager;
    CHECK_EQUAL(L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, &old), 2);
    L4_ExchangeRegisters(a->id, 0x11E, stack_of(a), reinterpret_cast<Word>(life_after), 0, 0, L4_nilthread, &control,
                         &sp, &ip, &flags, &handle, &pager);
    pause(3000);
    CHECK_EQUAL(control & 1, 1);
    CHECK_EQUAL(revived, 1);
}

Word do_send_then_wait(Word to, Word, Word)
{
    L4_ThreadId_t from;
    L4_Set_MsgTag(L4_Niltag);
    L4_Ipc(L4_ThreadId_t{.raw = to}, L4_anythread, L4_Timeouts(second, second), &from);
    revived = 1;
    return L4_ErrorCode();
}
/// What the kernel still had to do for a halted thread is canceled: it runs when it is resumed, not before.
void halted_before_it_is_canceled()
{
    constexpr Word cancel_receive = 2, receive_canceled = 7;
    Agent *first = agent(Kind::here), *other = agent(Kind::here);
    if (!first || !other) return;
    revived = 0;
    begin(first, do_send_then_wait, main_id.raw);
    begin(other, do_send_to, first->id.raw);
    pause(2000);
    CHECK(L4_IpcSucceeded(L4_Receive_Timeout(first->id, L4_ZeroTime))); // it has yet to receive from `other`
    L4_Stop(first->id);
    L4_ExchangeRegisters(first->id, cancel_receive, 0, 0, 0, 0, L4_nilthread, nullptr, nullptr, nullptr, nullptr,
                         nullptr, nullptr);
    CHECK_EQUAL(cobnut::audit().faults, 0);
    pause(2000);
    CHECK_EQUAL(revived, 0);
    L4_Start(first->id);
    CHECK_EQUAL(finish(first).value, receive_canceled);
    CHECK_EQUAL(revived, 1);
}

/// A thread that clears the flag of a pending preemption does not delay it for longer.
Word do_delay_and_deny(Word, Word, Word)
{
    const L4_Clock_t end = {.raw = L4_SystemClock().raw + 300000};
    L4_DisablePreemption();
    while (!revived && L4_SystemClock().raw < end.raw)
        for (int i = 0; i < 100; i++) L4_PreemptionPending();
    L4_EnablePreemption();
    return L4_SystemClock().raw < end.raw;
}
void delay_that_is_denied()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_Set_PreemptionDelay(a->id, 250, 5000) != 0);
    revived = 0;
    begin(a, do_delay_and_deny);
    const L4_Clock_t before = L4_SystemClock();
    pause(2000);
    CHECK(L4_SystemClock().raw - before.raw < 100000);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw, 0xFFD00002);
    revived = 1;
    CHECK_EQUAL(finish(a).value, 1);
}

Word do_sleep_often(Word, Word, Word)
{
    for (int i = 0; i < 100; i++) L4_Sleep(L4_TimePeriod(1000));
    revived = 1;
    while (revived) {}
    return 0;
}
Word do_switch_often(Word to, Word, Word)
{
    while (!revived) L4_ThreadSwitch(L4_ThreadId_t{.raw = to});
    return 0;
}
/// Time that others gave is not hoarded over waits, to be without rivals for long.
void given_time_is_not_hoarded()
{
    Agent *hoarder = agent(Kind::other), *giver = agent(Kind::other);
    if (!hoarder || !giver) return;
    revived = 0;
    begin(hoarder, do_sleep_often);
    begin(giver, do_switch_often, hoarder->id.raw);
    for (int i = 0; i < 1000 && !revived; i++) pause(1000);
    L4_Time_t slice, quantum;
    CHECK(L4_Timeslice(hoarder->id, &slice, &quantum) != 0);
    revived = 0;
    CHECK(finish(hoarder).done);
    CHECK(L4_PeriodUsec(slice) <= 20000); // its own 10 ms, and once the giver's
}

[[noreturn]] Word do_unmap_for_ever(Word, Word, Word)
{
    for (;;) {
        L4_Flush(L4_CompleteAddressSpace);
        revived = revived + 1;
    }
}
/// A thread that is in the kernel at each tick of the clock uses its total quantum up like others.
void quantum_ends_in_the_kernel()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    CHECK(L4_Set_Timeslice(a->id, L4_TimePeriod(10000), L4_TimePeriod(5000)) != 0);
    begin(a, do_unmap_for_ever);
    const L4_Clock_t began = L4_SystemClock();
    const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, second);
    CHECK_EQUAL(tag.raw, 0xFFD00002);
    CHECK(L4_SystemClock().raw - began.raw < 20000);
    const Word before = revived;
    pause(20000);
    CHECK_EQUAL(revived, before);
}

/// The first page there is, by a size that reaches back below it.
void attribute_of_the_first_page()
{
    const Word page = do_sigma0_get(L4_FpageLog2(0, 12).raw, L4_UncacheableMemory, 0);
    CHECK(page != ~0u);
    do_sigma0_get(L4_FpageLog2(0, 12).raw, L4_DefaultMemory, 0);
    CHECK_EQUAL(cobnut::audit().faults, 0);
}

} // namespace

const Test edge_tests[] = {
    {"edge.bad_acknowledgement", bad_acknowledgement},
    {"edge.queued_in_partners_name", queued_in_partners_name},
    {"edge.senders_to_an_old_version", senders_to_an_old_version},
    {"edge.new_version_before_the_start", new_version_before_the_start},
    {"edge.scheduler_that_names_nobody", scheduler_that_names_nobody},
    {"edge.moving_areas_loses_no_memory", moving_areas_loses_no_memory},
    {"edge.areas_stay_without_threads", areas_stay_without_threads},
    {"edge.halted_thread_goes_on", halted_thread_goes_on},
    {"edge.halted_before_it_is_canceled", halted_before_it_is_canceled},
    {"edge.delay_that_is_denied", delay_that_is_denied},
    {"edge.given_time_is_not_hoarded", given_time_is_not_hoarded},
    {"edge.quantum_ends_in_the_kernel", quantum_ends_in_the_kernel},
    {"edge.attribute_of_the_first_page", attribute_of_the_first_page},
    {nullptr, nullptr},
};

} // namespace x2test
