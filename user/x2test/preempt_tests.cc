// SPDX-License-Identifier: BSD-2-Clause
// Total quantum, preemption signals and delayed preemptions (manual 3.5, 3.6, 7.4).
#include "crowd.h"
#include "harness.h"

namespace x2test {
namespace {

constexpr Word keep = ~0u;
constexpr Word preemption_tag = 0xFFD00002;
constexpr Word sensitive = 250; // main's own priority: main is the one that preempts

constinit volatile Word counter = 0, stage = 0;

[[noreturn]] Word do_count(Word, Word, Word)
{
    for (;;) counter = counter + 1;
}

bool counts()
{
    const Word before = counter;
    pause(5000);
    return counter != before;
}

bool set_quantum(const Agent *a, L4_Time_t quantum)
{
    return L4_Set_Timeslice(a->id, L4_TimePeriod(10000), quantum) != 0;
}

/// The preemption message of `a`, and that its clock is one of the past.
void expect_preemption(const Agent *a)
{
    const L4_Clock_t before = L4_SystemClock();
    const L4_MsgTag_t tag = L4_Receive_Timeout(a->id, second);
    CHECK_EQUAL(tag.raw, preemption_tag);
    Word mr[3];
    L4_StoreMRs(0, 3, mr);
    const L4_Clock_t then = {.X = {.low = mr[1], .high = mr[2]}}, now = L4_SystemClock();
    CHECK(then.raw <= now.raw && now.raw - then.raw < 2000000 && then.raw + 2000000 > before.raw);
}

void answer(const Agent *a)
{
    L4_Set_MsgTag(L4_Niltag);
    L4_Reply(a->id);
}

void quantum_message()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(set_quantum(a, L4_TimePeriod(20000)));
    begin(a, do_count);
    expect_preemption(a);
    CHECK(!counts()); // it waits for its scheduler
    CHECK_EQUAL(L4_Schedule(a->id, keep, keep, keep, keep, nullptr), L4_SCHEDRESULT_WAITING);
    CHECK(set_quantum(a, L4_Never));
    CHECK(counts());
}

/// Threads that queue at it do not keep it from its new quantum.
void quantum_renewed_in_a_crowd()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    const Crowd crowd(a->id, L4_nilthread, L4_Never, L4_Never);
    if (!crowd.complete()) return;
    CHECK(set_quantum(a, L4_TimePeriod(20000)));
    begin(a, do_count);
    expect_preemption(a);
    CHECK(set_quantum(a, L4_Never));
    CHECK(counts());
}

[[noreturn]] Word do_spin_beside(Word, Word, Word)
{
    for (;;) __asm__ volatile("");
}
/// Its time slice ends at the same tick, and an equal never gives way.
void quantum_beside_an_equal()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK(set_quantum(a, L4_TimePeriod(10000)));
    CHECK(L4_Set_Timeslice(b->id, L4_Never, L4_Never) != 0);
    begin(a, do_count);
    begin(b, do_spin_beside);
    expect_preemption(a);
}

void quantum_answered_without_a_new_one()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(set_quantum(a, L4_TimePeriod(5000)));
    begin(a, do_count);
    for (int i = 0; i < 3; i++) {
        expect_preemption(a);
        const Word before = counter;
        answer(a); // it runs until the next tick
        expect_preemption(a);
        CHECK(counter != before);
        answer(a);
    }
}

/// No thread waits for the message: it is dropped, and the thread stays where it is.
void quantum_message_dropped()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(set_quantum(a, L4_TimePeriod(5000)));
    begin(a, do_count);
    pause(50000);
    CHECK(!counts());
    CHECK(L4_IpcFailed(L4_Receive_Timeout(a->id, short_time)));
    CHECK(set_quantum(a, L4_TimePeriod(100000)));
    CHECK(counts());
    L4_Time_t slice, left;
    CHECK(L4_Timeslice(a->id, &slice, &left) != 0);
    CHECK(L4_PeriodUsec(left) > 0 && L4_PeriodUsec(left) < 100000);
}

Word do_count_signalled(Word, Word, Word)
{
    L4_EnablePreemptionFaultException();
    return do_count(0, 0, 0);
}

/// Main preempts `a`, and is told of it.
void expect_signal(const Agent *a)
{
    pause(5000);
    CHECK_EQUAL(L4_Receive_Timeout(a->id, short_time).raw, preemption_tag);
}

void signal_after_preemption()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 0) != 0);
    begin(a, do_count_signalled);
    expect_signal(a);
    CHECK(counts()); // a notification: no answer is needed
    expect_signal(a);
}

/// Registers, message registers and the error code of a thread that runs are its own.
Word do_check_registers(Word, Word, Word)
{
    constexpr Word marked = 6;
    Word mr[marked], error = L4_ErrorCode();
    for (Word i = 1; i < marked; i++) L4_LoadMR(i, 0xABC000 + i);
    L4_EnablePreemptionFaultException();
    for (Word a = 1, b = 2, c = 3, d = 4;;) {
        counter = counter + 1;
        asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
        L4_StoreMRs(1, marked - 1, mr + 1);
        bool good = a == 1 && b == 2 && c == 3 && d == 4 && L4_ErrorCode() == error;
        for (Word i = 1; i < marked; i++) good = good && mr[i] == 0xABC000 + i;
        if (!good) stage = 9;
    }
}
void signal_leaves_no_trace()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 0) != 0);
    stage = 0;
    begin(a, do_check_registers);
    for (int i = 0; i < 10; i++) {
        expect_signal(a);
        CHECK(counts()); // no thread waits for its signal, which is dropped
        CHECK_EQUAL(stage, 0);
    }
}

void no_signal_unless_asked()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 0) != 0);
    begin(a, do_count);
    pause(5000);
    CHECK(L4_IpcFailed(L4_Receive_Timeout(a->id, short_time)));
    remove(a); // of like priority: it would preempt b at the end of a time slice
    // The preemptor has a higher priority than the sensitive one.
    CHECK(L4_Set_PreemptionDelay(b->id, sensitive - 1, 0) != 0);
    begin(b, do_count_signalled);
    pause(5000);
    CHECK(L4_IpcFailed(L4_Receive_Timeout(b->id, short_time)));
}

Word do_delay(Word, Word, Word)
{
    L4_DisablePreemption();
    stage = 1;
    while (!(*__L4_PreemptFlags() & 0x80)) {}
    stage = 2;
    for (int i = 0; i < 1000; i++) counter = counter + 1;
    stage = 3;
    const bool delayed = L4_EnablePreemption(), pending = L4_PreemptionPending();
    L4_Yield();
    return (delayed ? 1 : 0) | (pending ? 2 : 0) | (L4_PreemptionPending() ? 4 : 0);
}

void delayed_until_it_yields()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 60000) != 0);
    stage = 0;
    begin(a, do_delay);
    for (int i = 0; i < 100 && !stage; i++) pause(1000);
    pause(2000);
    CHECK_EQUAL(stage, 3); // main's time was over at stage 1
    CHECK_EQUAL(finish(a).value, 3);
}

Word do_delay_for_ever(Word, Word, Word)
{
    L4_DisablePreemption();
    for (;;) {
        counter = counter + 1;
        const Word flags = *__L4_PreemptFlags();
        if (!(flags & 0x40)) stage = flags & 0x80 ? 8 : 9;
    }
}

void delay_has_a_maximum()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 5000) != 0);
    stage = 0;
    begin(a, do_delay_for_ever);
    pause(2000);
    CHECK_EQUAL(stage, 0);
    CHECK_EQUAL(L4_Receive_Timeout(a->id, short_time).raw, preemption_tag); // an overflow is signalled in any case
    pause(3000);
    CHECK_EQUAL(stage, 9); // and takes d and I away: nothing is pending any more
}

constinit volatile Word delayed_for = 0;
/// Sets `delayed_for` to the time from a preemption that is put off to the last moment before it takes place.
Word do_measure_delay(Word, Word, Word)
{
    L4_DisablePreemption();
    while (!(*__L4_PreemptFlags() & 0x80)) {}
    const L4_Clock_t began = L4_SystemClock();
    for (;;) {
        const L4_Clock_t now = L4_SystemClock();
        if (!(*__L4_PreemptFlags() & 0x40)) break;
        delayed_for = static_cast<Word>(now.raw - began.raw);
    }
    return 0;
}
/// In one of some tries, for an emulator on a busy host is late with its ticks.
void expect_delay(Word maximum, Word low, Word high)
{
    for (int i = 0; i < 40; i++) {
        Agent *a = agent(Kind::other);
        if (!a || !L4_Set_PreemptionDelay(a->id, sensitive, maximum)) return fail("no agent, or no delay");
        delayed_for = 0;
        begin(a, do_measure_delay);
        pause(2500);
        remove(a);
        if (delayed_for >= low && delayed_for <= high) return;
    }
    fail("a delay of %u us at most lasts %u us", maximum, delayed_for);
}
void delay_is_never_longer()
{
    expect_delay(3500, 1000, 3500);
    expect_delay(400, 0, 0); // the clock could not end it in time
}

void no_delay_without_leave()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_delay_for_ever); // its scheduler gave it neither a sensitive priority nor a delay
    check_duration([] { pause(2000); }, 2000, 6000);
    CHECK(L4_Set_PreemptionDelay(a->id, 100, 60000) != 0); // main is above that
    check_duration([] { pause(2000); }, 2000, 6000);
}

/// The end of a time slice is a preemption like others (manual 3.6): by an equal thread.
Word do_delay_slice_end(Word, Word, Word)
{
    L4_DisablePreemption();
    while (!(*__L4_PreemptFlags() & 0x80)) {}
    const Word before = counter;
    const L4_Clock_t end = {.raw = L4_SystemClock().raw + 5000};
    while (L4_SystemClock().raw < end.raw) {}
    const bool alone = counter == before;
    L4_EnablePreemption();
    L4_PreemptionPending();
    L4_Yield();
    return (alone ? 1 : 0) | (counter != before ? 2 : 0);
}
void slice_end_is_delayed()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 60000) != 0);
    CHECK(L4_Set_Timeslice(a->id, L4_TimePeriod(5000), L4_Never) != 0);
    begin(b, do_count);
    CHECK_EQUAL(ask(a, do_delay_slice_end).value, 3);
}
void slice_end_is_signalled()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 0) != 0);
    begin(a, do_count_signalled);
    begin(b, do_count);
    for (int i = 0; i < 3; i++) expect_preemption(a); // main waits: no other thread preempts it
}

/// Switches to `to` and notes how long it is until its own turn comes again.
constinit volatile Word turned_after = 0;
Word do_switch_to(Word to, Word, Word)
{
    const L4_Clock_t before = L4_SystemClock();
    L4_ThreadSwitch(L4_ThreadId_t{.raw = to});
    turned_after = static_cast<Word>(L4_SystemClock().raw - before.raw);
    return 0;
}
Word do_stage(Word, Word, Word)
{
    for (;;) stage = stage + 1;
}
struct Trio {
    Agent *giver = agent(Kind::other), *taker = agent(Kind::other), *between = agent(Kind::other);

    /// The giver has 50 ms; the taker runs by the switch alone, and comes after `between`.
    bool ready() const
    {
        return giver && taker && between && L4_Set_Timeslice(giver->id, L4_TimePeriod(50000), L4_Never) &&
               L4_Set_Priority(taker->id, 80) && L4_Set_Priority(between->id, 90);
    }
};

/// A switch to a lower thread gives it the rest of the time slice, in which only threads above the giver interrupt it.
void switch_donates()
{
    Trio trio;
    CHECK(trio.ready());
    turned_after = 0;
    begin(trio.taker, do_count);
    begin(trio.between, do_stage);
    begin(trio.giver, do_switch_to, trio.taker->id.raw);
    const Word before = counter;
    stage = 0;
    for (int i = 0; i < 4; i++) {
        pause(4000);
        CHECK_EQUAL(turned_after, 0);
        CHECK_EQUAL(stage, 0);
    }
    CHECK(counter != before);
    CHECK(finish(trio.giver).done);
    CHECK(turned_after >= 40000);
    pause(3000);
    CHECK(stage != 0); // it is over
}

/// As long as the other can run.
Word do_sleep_and_count(Word, Word, Word)
{
    for (;;) {
        counter = counter + 1;
        L4_Sleep(L4_TimePeriod(1000));
    }
}
void donation_ends_with_a_wait()
{
    Trio trio;
    CHECK(trio.ready());
    counter = 0;
    begin(trio.taker, do_sleep_and_count);
    pause(3000);
    const Word before = counter;
    CHECK(before != 0);
    for (int i = 0; i < 8; i++) {
        CHECK(ask(trio.giver, do_switch_to, trio.taker->id.raw).done);
        if (turned_after < 10000) return;
    }
    fail("the giver's turn comes after %u us", turned_after);
}

/// Also where it waits and goes on by the fast path. It calls when main says so, with no thread above it ready.
Word do_call_and_count(Word server, Word, Word)
{
    while (!turned_after) {}
    L4_Set_MsgTag(L4_Niltag);
    L4_Call(L4_ThreadId_t{.raw = server});
    for (;;) counter = counter + 1;
}
void donation_ends_with_a_call()
{
    Trio trio;
    CHECK(trio.ready());
    Agent *server = agent(Kind::other);
    CHECK(server && L4_Set_Priority(server->id, 150));
    begin(server, do_increment_words, trio.taker->id.raw);
    counter = 0;
    turned_after = 0;
    begin(trio.taker, do_call_and_count, server->id.raw);
    begin(trio.giver, do_switch_to, trio.taker->id.raw);
    pause(2000);
    CHECK(L4_Set_Priority(trio.giver->id, 10));
    turned_after = 1;
    pause(2000);
    CHECK(counter > 1);
    stage = 0;
    begin(trio.between, do_stage);
    pause(2000);
    CHECK(stage != 0);
}

/// It is over for a taker that halts itself.
Word do_halt_and_count(Word me, Word, Word)
{
    L4_Stop(L4_ThreadId_t{.raw = me});
    for (;;) counter = counter + 1;
}
void donation_ends_with_a_halt()
{
    Agent *giver = agent(Kind::here), *taker = agent(Kind::here), *between = agent(Kind::other);
    CHECK(giver && taker && between && L4_Set_Timeslice(giver->id, L4_TimePeriod(50000), L4_Never));
    CHECK(L4_Set_Priority(taker->id, 80) && L4_Set_Priority(between->id, 90));
    begin(taker, do_halt_and_count, taker->id.raw);
    CHECK(ask(giver, do_switch_to, taker->id.raw).done);
    CHECK_EQUAL(L4_Schedule(taker->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_INACTIVE);
    stage = 0;
    counter = 0;
    begin(between, do_stage);
    L4_Start(taker->id);
    pause(5000);
    CHECK_EQUAL(counter, 0); // it waits for its own turn
    CHECK(stage != 0);
}

/// A taker's priority, as far as it may give it, is its own.
Word do_set_own_priority(Word me, Word priority, Word)
{
    counter = 0;
    while (!counter) {} // until main says that it is with what it was given
    stage = L4_Set_Priority(L4_ThreadId_t{.raw = me}, priority) ? 1 : 2;
    for (;;) counter = counter + 1;
}
void donation_raises_no_priority()
{
    Trio trio;
    CHECK(trio.ready());
    CHECK(L4_ThreadControl(trio.taker->id, trio.taker->id, trio.taker->id, L4_nilthread, reinterpret_cast<void *>(-1)));
    stage = 0;
    begin(trio.taker, do_set_own_priority, trio.taker->id.raw, 95);
    pause(2000);
    begin(trio.giver, do_switch_to, trio.taker->id.raw);
    pause(2000);
    counter = 1;
    pause(2000);
    CHECK_EQUAL(stage, 2);
}

/// Its own scheduler, a taker gives itself a time slice of hours while it has the giver's.
Word do_lengthen_and_count(Word me, Word, Word)
{
    L4_Set_Timeslice(L4_ThreadId_t{.raw = me}, L4_TimePeriod(0x7fffffff), L4_Never);
    for (;;) counter = counter + 1;
}

void donation_outlives_no_slice()
{
    Trio trio;
    CHECK(trio.ready());
    CHECK(L4_ThreadControl(trio.taker->id, trio.taker->id, trio.taker->id, L4_nilthread, reinterpret_cast<void *>(-1)));
    turned_after = 0;
    stage = 0;
    counter = 0;
    begin(trio.between, do_stage);
    begin(trio.taker, do_lengthen_and_count, trio.taker->id.raw);
    begin(trio.giver, do_switch_to, trio.taker->id.raw);
    pause(500);
    const Word before = stage;
    pause(200000);
    CHECK(turned_after != 0);
    CHECK(stage != before);
}

// ------------------------------------------------------------------------------- a quantum that ends in a call
constexpr Word from_base = 0x40000000, to_base = 0x50000000;
constexpr int range_log2 = 20;
constinit volatile Word rounds_done = 0;

/// Takes map items, and answers by the fast path.
Word do_serve(Word client, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_FpageLog2(to_base, range_log2)));
    L4_MsgTag_t tag = L4_Receive(L4_ThreadId_t{.raw = client});
    for (;;) {
        L4_Set_MsgTag(L4_Niltag);
        tag = L4_Call(L4_ThreadId_t{.raw = client});
    }
}

Word do_send_ranges(Word server, Word rounds, Word)
{
    for (Word i = 0; i < rounds; i++) {
        const L4_Fpage_t f = L4_FpageLog2(from_base, range_log2);
        L4_Unmap(f + L4_FullyAccessible);
        const L4_MapItem_t item = L4_MapItem(f + L4_FullyAccessible, 0);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
        L4_LoadMR(1, item.raw[0]);
        L4_LoadMR(2, item.raw[1]);
        const L4_MsgTag_t tag = L4_Call(L4_ThreadId_t{.raw = server});
        L4_SystemClock();
        if (L4_IpcFailed(tag)) return L4_ErrorCode() | 0x100;
        rounds_done = rounds_done + 1;
    }
    return 0;
}

/// The end of a total quantum while the map items of a call move is told after the call, before the caller runs on.
void quantum_ends_in_a_call()
{
    constexpr Word rounds = 300;
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    for (Word i = 0; i < (1u << range_log2) / 0x10000; i++)
        for (Word n = 0; n < arena_pages; n++)
            give_page(a, n, from_base + i * 0x10000 + n * page_size, L4_FullyAccessible);
    begin(b, do_serve, a->id.raw);
    rounds_done = 0;
    begin(a, do_send_ranges, b->id.raw, rounds);
    L4_Set_Timeslice(a->id, L4_TimePeriod(10000), L4_TimePeriod(1000));
    for (Word n = 0; n < 20 * rounds && rounds_done < rounds; n++) {
        L4_ThreadId_t from;
        const L4_MsgTag_t tag = L4_Wait_Timeout(second, &from);
        if (L4_IpcFailed(tag)) break;
        if (from == a->id && tag.raw == 0xFFD00002) {
            L4_Set_Timeslice(a->id, L4_TimePeriod(10000), L4_TimePeriod(1000));
        } else if (from == a->id) {
            break;
        }
    }
    CHECK_EQUAL(rounds_done, rounds);
}

} // namespace

const Test preempt_tests[] = {
    {"preempt.quantum_ends_in_a_call", quantum_ends_in_a_call},
    {"preempt.donation_outlives_no_slice", donation_outlives_no_slice},
    {"preempt.quantum_renewed_in_a_crowd", quantum_renewed_in_a_crowd},
    {"preempt.quantum_message", quantum_message},
    {"preempt.quantum_answered_without_a_new_one", quantum_answered_without_a_new_one},
    {"preempt.quantum_beside_an_equal", quantum_beside_an_equal},
    {"preempt.quantum_message_dropped", quantum_message_dropped},
    {"preempt.signal_after_preemption", signal_after_preemption},
    {"preempt.signal_leaves_no_trace", signal_leaves_no_trace},
    {"preempt.no_signal_unless_asked", no_signal_unless_asked},
    {"preempt.delayed_until_it_yields", delayed_until_it_yields},
    {"preempt.delay_has_a_maximum", delay_has_a_maximum},
    {"preempt.delay_is_never_longer", delay_is_never_longer},
    {"preempt.no_delay_without_leave", no_delay_without_leave},
    {"preempt.slice_end_is_delayed", slice_end_is_delayed},
    {"preempt.slice_end_is_signalled", slice_end_is_signalled},
    {"preempt.switch_donates", switch_donates},
    {"preempt.donation_ends_with_a_wait", donation_ends_with_a_wait},
    {"preempt.donation_ends_with_a_call", donation_ends_with_a_call},
    {"preempt.donation_ends_with_a_halt", donation_ends_with_a_halt},
    {"preempt.donation_raises_no_priority", donation_raises_no_priority},
    {nullptr, nullptr},
};

} // namespace x2test
