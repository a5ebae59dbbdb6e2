// SPDX-License-Identifier: BSD-2-Clause
// Total quantum, preemption signals and delayed preemptions (manual 3.5, 3.6, 7.4).
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

/// The preemption message of `a`, and that its clock is one of the past; main then has to answer.
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

/// Nobody waits for the message: it is dropped, and the thread stays where it is.
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

void signal_after_preemption()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 0) != 0);
    begin(a, do_count_signalled);
    pause(5000);
    expect_preemption(a);
    CHECK(!counts()); // an exception: it waits for the answer
    answer(a);
    CHECK(counts());
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
        if (!(*__L4_PreemptFlags() & 0x40)) stage = 9;
    }
}

void delay_has_a_maximum()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_Set_PreemptionDelay(a->id, sensitive, 5000) != 0);
    stage = 0;
    begin(a, do_delay_for_ever);
    check_duration([] { pause(2000); }, 2000, 20000);
    expect_preemption(a); // an overflow is signalled in any case
    CHECK_EQUAL(stage, 0);
    answer(a);
    pause(3000);
    CHECK_EQUAL(stage, 9); // and takes the flag away
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

/// A switch to a thread gives it the rest of the time slice beside its own.
Word do_switch_to(Word to, Word, Word)
{
    L4_ThreadSwitch(L4_ThreadId_t{.raw = to});
    return 0;
}
void switch_donates()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK(L4_Set_Timeslice(a->id, L4_TimePeriod(400000), L4_Never) != 0);
    CHECK(L4_Set_Timeslice(b->id, L4_TimePeriod(20000), L4_Never) != 0);
    CHECK(L4_Set_Priority(b->id, 90) != 0); // below a: it runs by the switch alone
    begin(b, do_count);
    begin(a, do_switch_to, b->id.raw);
    CHECK(finish(a).done);
    L4_Time_t slice, quantum;
    CHECK(L4_Timeslice(b->id, &slice, &quantum) != 0);
    CHECK(L4_PeriodUsec(slice) > 50000);
}

} // namespace

const Test preempt_tests[] = {
    {"preempt.quantum_message", quantum_message},
    {"preempt.quantum_answered_without_a_new_one", quantum_answered_without_a_new_one},
    {"preempt.quantum_message_dropped", quantum_message_dropped},
    {"preempt.signal_after_preemption", signal_after_preemption},
    {"preempt.no_signal_unless_asked", no_signal_unless_asked},
    {"preempt.delayed_until_it_yields", delayed_until_it_yields},
    {"preempt.delay_has_a_maximum", delay_has_a_maximum},
    {"preempt.no_delay_without_leave", no_delay_without_leave},
    {"preempt.switch_donates", switch_donates},
    {nullptr, nullptr},
};

} // namespace x2test
