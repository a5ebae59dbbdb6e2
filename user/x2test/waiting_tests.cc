// SPDX-License-Identifier: BSD-2-Clause
// Ways to make the kernel's work for waiting threads long: many of them in one queue, ending at one time, or waiting
// for a thread that is deleted. With the option latency=1; how long interrupts are off is the laboratory's to count
// (`./cobnut run latency/worst`).
#include "crowd.h"

#include <cobnut/lab.h>
#include <l4/kdebug.h>

namespace x2test {
namespace {

constexpr Word receive_timeout = 3;

Word do_sleep(Word microseconds, Word, Word)
{
    L4_Sleep(L4_TimePeriod(microseconds));
    return 0;
}

/// A wait that is to end behind all others begins, and is canceled.
void timeout_queue()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::here);
    const Crowd crowd(L4_nilthread, main_id, L4_Never, second);
    if (!a || !crowd.complete()) return;
    begin(a, do_sleep, 3000000);
    pause(2000);
    remove(a);
}

/// All wait until the same time.
void timeouts_expire()
{
    if (!wish.latency) return;
    const L4_Clock_t end = {.raw = L4_SystemClock().raw + 500000};
    const Crowd crowd(L4_nilthread, main_id, L4_Never, L4_TimePoint(end));
    if (!crowd.complete()) return;
    while (L4_SystemClock().raw < end.raw + 5000) pause(10000);
}

Word do_receive_from(Word from, Word, Word)
{
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, L4_ZeroTime);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

Word do_write_pages(Word first, Word count, Word)
{
    for (; count; count--, first += page_size) *reinterpret_cast<volatile Word *>(first) = count;
    return 0;
}

Word do_receive_items(Word from, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// A receiver that accepts none of the threads that wait to send to it.
void closed_receive()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::here), *other = agent(Kind::here);
    if (!a || !other) return;
    const Crowd crowd(a->id, L4_nilthread, L4_Never, L4_Never);
    if (!crowd.complete()) return;
    CHECK_EQUAL(ask(a, do_receive_from, other->id.raw).value, receive_timeout);
}

L4_ThreadId_t forwarded = {};

[[noreturn]] Word forward_to(Word to)
{
    constexpr Word propagated = 1u << 12;
    L4_Set_VirtualSender(forwarded);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = propagated});
    L4_Send(L4_ThreadId_t{.raw = to});
    for (;;) L4_Sleep(L4_Never);
}

L4_ThreadId_t forward_receiver = {};
void forward_in_vain() { forward_to(forward_receiver.raw); }

/// The same of senders that may use a name only if one of many redirectors is among them.
void forwarded_by_strangers()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::large), *first = agent(Kind::large), *next = agent(Kind::large);
    Agent *other = agent(Kind::here);
    if (!a || !first || !next || !other) return;
    CHECK(redirect(first, next->id));
    CHECK(redirect(next, first->id));
    forwarded = first->id, forward_receiver = a->id;
    const Crowd crowd(L4_nilthread, L4_nilthread, L4_Never, L4_Never, forward_in_vain);
    if (!crowd.complete()) return;
    CHECK_EQUAL(ask(a, do_receive_from, other->id.raw).value, receive_timeout);
}

Word do_spin(Word, Word, Word)
{
    for (volatile Word spins = 0;;) spins = spins + 1;
}

/// A thread's total quantum is used up: what it waits for then is looked for among many such senders.
void quantum_with_strangers()
{
    if (!wish.latency) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *a = agent(Kind::large), *first = agent(Kind::large), *next = agent(Kind::large);
    if (!a || !first || !next) return;
    CHECK(redirect(first, next->id));
    CHECK(redirect(next, first->id));
    forwarded = first->id, forward_receiver = a->id;
    begin(a, do_spin);
    const Crowd crowd(L4_nilthread, L4_nilthread, L4_Never, L4_Never, forward_in_vain);
    if (!crowd.complete()) return;
    CHECK(L4_Set_Timeslice(a->id, L4_TimePeriod(10000), L4_TimePeriod(20000)));
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    CHECK(L4_IpcSucceeded(L4_Receive_Timeout(a->id, second)));
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
}

Word do_forward(Word, Word, Word) { forward_to(forward_receiver.raw); }

/// To `to` three pages, at `low` and above, then from `from` what there is. nilthread: no such part.
constexpr Word low = 0x02000000;
Word do_give_and_take_items(Word to, Word from, Word)
{
    constexpr int pages = 3;
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u * pages << 6});
    for (int i = 0; i < pages; i++) {
        const Word n = static_cast<Word>(i);
        const L4_MapItem_t item = L4_MapItem(page_at(arena_page(n), L4_FullyAccessible), low + n * page_size);
        L4_LoadMR(1 + 2 * i, item.raw[0] | (i + 1 < pages));
        L4_LoadMR(2 + 2 * i, item.raw[1]);
    }
    L4_ThreadId_t partner;
    const L4_MsgTag_t tag =
        L4_Ipc(L4_ThreadId_t{.raw = to}, L4_ThreadId_t{.raw = from}, L4_Timeouts(second, second), &partner);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

Word do_give_low(Word to, Word log2, Word)
{
    const L4_MapItem_t item = L4_MapItem(L4_FpageLog2(low, static_cast<int>(log2)) + L4_FullyAccessible, low);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}

/// A megabyte comes where the receiver shares another one, from behind senders that may not use the names that they
/// send in, and with the call that has just sent some pages.
void items_behind_strangers()
{
    constexpr Word strangers = 7;
    constexpr int log2 = 20;
    if (!wish.latency) return;
    Agent *a = agent(Kind::large), *sharer = agent(Kind::large), *giver = agent(Kind::large);
    Agent *taker = agent(Kind::large), *first = agent(Kind::large), *next = agent(Kind::large);
    const L4_Fpage_t old = own_memory(log2);
    const L4_Fpage_t fresh = own_memory(log2);
    if (!a || !sharer || !giver || !taker || !first || !next) return;
    if (L4_IsNilFpage(old) || L4_IsNilFpage(fresh)) return;
    Agent *const three[] = {a, sharer, giver};
    for (Agent *one : three) {
        give(one, (one == giver ? fresh : old) + L4_FullyAccessible, 0, L4_FpageLog2(low, log2));
        ask(one, do_write_pages, low, 1u << (log2 - 12));
    }
    CHECK(redirect(first, next->id));
    CHECK(redirect(next, first->id));
    forwarded = first->id, forward_receiver = a->id;
    for (Word i = 0; i < strangers; i++) {
        Agent *one = agent(Kind::here);
        if (!one) return;
        begin(one, do_forward);
    }
    pause(5000);
    begin(giver, do_give_low, a->id.raw, log2);
    begin(taker, do_receive_items, a->id.raw);
    pause(5000);
    begin(a, do_give_and_take_items, taker->id.raw, giver->id.raw);
    CHECK_EQUAL(finish(a).value, 0);
    CHECK_EQUAL(finish(taker).value, 0);
    CHECK_EQUAL(finish(giver).value, 0);
    CHECK_EQUAL(ask(a, do_read, low).faults, 0);
}

/// In one call a message to `to`, in a name that takes a chain of redirectors to refuse, and then what `from` gives.
Word do_forward_and_take(Word to, Word from, Word)
{
    constexpr Word propagated = 1u << 12, words = 60;
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    L4_Set_VirtualSender(forwarded);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = propagated | words});
    L4_ThreadId_t partner;
    const L4_MsgTag_t tag =
        L4_Ipc(L4_ThreadId_t{.raw = to}, L4_ThreadId_t{.raw = from}, L4_Timeouts(second, second), &partner);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// Grants what there is at `low` in such a name.
Word do_forward_grant(Word to, Word log2, Word)
{
    constexpr Word propagated = 1u << 12;
    const L4_GrantItem_t item = L4_GrantItem(L4_FpageLog2(low, static_cast<int>(log2)) + L4_FullyAccessible, low);
    L4_Set_VirtualSender(forwarded);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = propagated | 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}

/// With the call that has sent a long message, a thread receives pieces of a megabyte where it has another, from a
/// thread that waits to send them. Each of the two uses a name that a chain of redirectors would have to allow.
constexpr Word most_sharers = 3;
void granted_by_one_who_waits(Word sharers)
{
    constexpr int log2 = 20;
    if (!wish.latency) return;
    Agent *a = agent(Kind::large), *taker = agent(Kind::large), *all[most_sharers];
    Agent *first = agent(Kind::large), *next = agent(Kind::large);
    const L4_Fpage_t old = own_memory(log2);
    const L4_Fpage_t fresh = own_memory(log2);
    if (!a || !taker || !first || !next) return;
    if (L4_IsNilFpage(old) || L4_IsNilFpage(fresh)) return;
    for (Word n = 0; n < sharers; n++) {
        if (!(all[n] = agent(Kind::large))) return;
        give(all[n], fresh + L4_FullyAccessible, 0, L4_FpageLog2(low, log2));
        ask(all[n], do_write_pages, low, 1u << (log2 - 12));
    }
    give(a, old + L4_FullyAccessible, 0, L4_FpageLog2(low, log2));
    ask(a, do_write_pages, low, 1u << (log2 - 12));
    CHECK(redirect(first, next->id));
    CHECK(redirect(next, first->id));
    forwarded = first->id;
    begin(all[0], do_forward_grant, a->id.raw, log2);
    begin(taker, do_receive_items, a->id.raw);
    pause(5000);
    begin(a, do_forward_and_take, taker->id.raw, all[0]->id.raw);
    CHECK_EQUAL(finish(a).value, 0);
    CHECK_EQUAL(finish(taker).value, 0);
    CHECK_EQUAL(finish(all[0]).value, 0);
    CHECK_EQUAL(ask(a, do_read, low).faults, 0);
    Agent *const others[] = {a, taker, first, next};
    for (Agent *one : others) remove(one);
    for (Word n = 0; n < sharers; n++) remove(all[n]);
}
void granted_behind_a_message()
{
    for (Word sharers = 1; sharers <= most_sharers; sharers++) granted_by_one_who_waits(sharers);
}

/// Threads that wait to send to a thread, and threads that wait for a message from it.
void deletion()
{
    if (!wish.latency) return;
    constexpr bool ways[] = {true, false};
    for (const bool sends : ways) {
        Agent *a = agent(Kind::here);
        if (!a) return;
        const Crowd crowd(sends ? a->id : L4_nilthread, sends ? L4_nilthread : a->id, L4_Never, L4_Never);
        if (!crowd.complete()) return;
        remove(a);
    }
}

/// The same when it gets another version.
void renaming()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::here);
    if (!a) return;
    const Crowd crowd(a->id, L4_nilthread, L4_Never, L4_Never);
    const L4_ThreadId_t other = L4_GlobalId(L4_ThreadNo(a->id), L4_Version(a->id) + 1);
    if (!crowd.complete()) return;
    CHECK(L4_ThreadControl(other, main_id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    a->id = other;
}

L4_ThreadId_t silent_pager = {};

/// Of two neighbours one sends a string to the other, whose pager does not answer its page fault.
void fault_in_a_string()
{
    constexpr Word accepts_strings = 1, string_of_a_page = page_size << 10;
    const Word number = L4_ThreadNo(L4_MyGlobalId());
    L4_Set_Pager(silent_pager);
    L4_Set_XferTimeouts(L4_Timeouts(second, second));
    if ((number - L4_ThreadNo(Crowd::id(0))) % 2 == 0) {
        L4_LoadBR(0, accepts_strings), L4_LoadBR(1, string_of_a_page), L4_LoadBR(2, free_area);
        L4_Receive(L4_GlobalId(number + 1, 1));
    } else {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
        L4_LoadMR(1, string_of_a_page), L4_LoadMR(2, arena_page(0));
        L4_Send(L4_GlobalId(number - 1, 1));
    }
    for (;;) L4_Sleep(L4_Never);
}

Word do_receive_many(Word count, Word, Word)
{
    while (count-- > 0) {
        L4_ThreadId_t from;
        L4_Wait_Timeout(L4_TimePeriod(100000), &from);
    }
    return 0;
}

/// Strings that end because the pager that was to answer goes away; it has got their page faults, or not.
void strings_of_a_pager()
{
    if (!wish.latency) return;
    constexpr bool ways[] = {true, false};
    for (const bool gets : ways) {
        Agent *pager = agent(Kind::here);
        if (!pager) return;
        silent_pager = pager->id;
        const Crowd crowd(L4_nilthread, L4_nilthread, L4_Never, L4_Never, fault_in_a_string);
        if (!crowd.complete()) return;
        if (gets) ask(pager, do_receive_many, wish.threads / 2);
        remove(pager);
    }
}

/// Those with the page faults come behind all senders.
void fault_in_a_string_from_before()
{
    constexpr Word accepts_strings = 1, string_of_a_page = page_size << 10;
    const Word number = L4_ThreadNo(L4_MyGlobalId()), half = wish.threads / 2;
    L4_Set_Pager(silent_pager);
    L4_Set_XferTimeouts(L4_Timeouts(second, second));
    pause(200000); // until all of them are there
    if (number - L4_ThreadNo(Crowd::id(0)) >= half) {
        L4_LoadBR(0, accepts_strings), L4_LoadBR(1, string_of_a_page), L4_LoadBR(2, free_area);
        L4_Receive(L4_GlobalId(number - half, 1));
    } else {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
        L4_LoadMR(1, string_of_a_page), L4_LoadMR(2, arena_page(0));
        L4_Send(L4_GlobalId(number + half, 1));
    }
    for (;;) L4_Sleep(L4_Never);
}

/// The same where the pager's space goes with it, whose first pages are a shared megabyte: the work for the last
/// threads and for the first pages does not add up, however many threads there are.
void strings_of_a_space_that_goes()
{
    constexpr Word at_a_time = 8, low = 0x02000000, high = 0x70000000, large_log2 = 20;
    if (!wish.latency) return;
    const L4_Fpage_t large = own_memory(large_log2);
    if (L4_IsNilFpage(large)) return;
    for (Word n = 0; n < at_a_time; n++) {
        Agent *pager = agent(Kind::large, high), *other = agent(Kind::large, high);
        if (!pager || !other) return;
        Agent *const both[] = {pager, other};
        for (Agent *one : both) {
            give(one, large + L4_FullyAccessible, 0, L4_FpageLog2(low, large_log2));
            ask(one, do_write_pages, low, 1u << (large_log2 - 12));
        }
        silent_pager = pager->id;
        const Crowd crowd(L4_nilthread, L4_nilthread, L4_Never, L4_Never, fault_in_a_string_from_before);
        if (!crowd.complete()) return;
        pause(250000);
        ask(pager, do_receive_many, wish.threads / 2);
        remove(pager);
        remove(other);
        if (!agent(Kind::here)) return; // one more than before
    }
}

constexpr int my_global_id = -60 / static_cast<int>(sizeof(Word)); // from the UTCB's address
void overwrite_id() { reinterpret_cast<volatile Word *>(L4_MyLocalId().raw)[my_global_id] = 0; }

/// A space whose threads have overwritten the global ids in their UTCBs: one is looked for by its local id.
void local_ids()
{
    if (!wish.latency) return;
    const Crowd crowd(L4_nilthread, main_id, L4_Never, L4_Never, overwrite_id);
    if (!crowd.complete()) return;
    const Word last = crowd.utcb(wish.threads - 1);
    CHECK_EQUAL(L4_GlobalIdOf(L4_ThreadId_t{.raw = last + L4_UtcbIdOffset}).raw, crowd.id(wish.threads - 1).raw);
    // Its UTCB is in use whatever stands there.
    CHECK(!L4_ThreadControl(unused_id(), main_id, main_id, main_id, reinterpret_cast<void *>(last)));
    CHECK_EQUAL(L4_ErrorCode(), 6);
}

/// A long text for the console, without a character that would show.
void console_text()
{
    if (!wish.latency) return;
    static constinit char text[1024] = {};
    for (char &c : text) c = ' ';
    text[1022] = '\n', text[1023] = 0;
    L4_KDB_PrintString(text);
}

/// Ends of lines, which are two characters each, one call after the other: more than the port takes at once.
void console_characters()
{
    if (!wish.latency) return;
    constexpr int more_than_it_holds = 24;
    for (int i = 0; i < more_than_it_holds; i++) L4_KDB_PrintChar('\n');
}

/// Spaces come and go; they get a redirector and lose it.
void spaces()
{
    if (!wish.latency) return;
    for (int i = 0; i < 4; i++) {
        Agent *a = agent(Kind::large);
        if (!a) return;
        CHECK(redirect(a, main_id));
        CHECK(redirect(a, L4_anythread));
        remove(a);
    }
}

/// A space goes that has had a UTCB in each page of an area as large as one page table maps.
void space_full_of_utcbs()
{
    if (!wish.latency) return;
    const L4_ThreadId_t holder = Crowd::id(0), other = Crowd::id(1);
    const auto unchanged = reinterpret_cast<void *>(-1);
    L4_Fpage_t area = L4_Nilpage;
    CHECK(L4_ThreadControl(holder, holder, main_id, L4_nilthread, unchanged));
    for (int log2 = 22; log2 >= 20; log2 -= 2) { // ARM's are of a megabyte at most
        area = L4_FpageLog2(0x01000000, log2);
        if (Cobnut_SpaceControl(holder, 0, L4_FpageLog2(kip_area, 12), &area, L4_nilthread, nullptr)) break;
    }
    Word made = 0;
    for (Word at = L4_Address(area); made < L4_Size(area) / page_size; made++, at += page_size) {
        if (!L4_ThreadControl(other, holder, main_id, main_id, reinterpret_cast<void *>(at))) break;
        L4_ThreadControl(other, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    }
    L4_ThreadControl(holder, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
    CHECK_EQUAL(made, L4_Size(area) / page_size);
}

Word do_call(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x11u << 16});
    return L4_Call(L4_ThreadId_t{.raw = to}).raw;
}

Word do_send(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x66u << 16});
    return L4_Send(L4_ThreadId_t{.raw = to}).raw;
}

/// A stranger that sends to a client that is being served does not cost it its answer.
void answer_beside_a_stranger()
{
    Agent *client = agent(Kind::large), *stranger = agent(Kind::large);
    if (!client || !stranger) return;
    begin(client, do_call, main_id.raw);
    pause(3000);
    begin(stranger, do_send, client->id.raw);
    pause(3000);
    CHECK_EQUAL(L4_Label(L4_Receive_Timeout(client->id, second)), 0x11);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x99u << 16});
    CHECK(L4_IpcSucceeded(L4_Reply(client->id)));
    CHECK_EQUAL(finish(client).value, 0x99u << 16);
}

} // namespace

const Test waiting_tests[] = {
    {"waiting.answer_beside_a_stranger", answer_beside_a_stranger},
    {"latency.wait_queue", timeout_queue},
    {"latency.wait_expiry", timeouts_expire},
    {"latency.wait_receive", closed_receive},
    {"latency.wait_forwarded", forwarded_by_strangers},
    {"latency.wait_quantum", quantum_with_strangers},
    {"latency.wait_items", items_behind_strangers},
    {"latency.wait_granted", granted_behind_a_message},
    {"latency.wait_deletion", deletion},
    {"latency.wait_renaming", renaming},
    {"latency.wait_strings", strings_of_a_pager},
    {"latency.wait_end_of_space", strings_of_a_space_that_goes},
    {"latency.wait_local_ids", local_ids},
    {"latency.wait_console", console_text},
    {"latency.wait_characters", console_characters},
    {"latency.wait_spaces", spaces},
    {"latency.delete_utcbs", space_full_of_utcbs},
    {nullptr, nullptr},
};

} // namespace x2test
