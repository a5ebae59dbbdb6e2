// SPDX-License-Identifier: BSD-2-Clause
// Schedule, ThreadSwitch, SystemClock, priorities and time slices (manual 3.3 to 3.5).
#include "harness.h"

namespace x2test {
namespace {

constexpr Word keep = ~0u;

Word schedule(L4_ThreadId_t id, Word time, Word processor, Word priority, Word preemption)
{
    const Word state = L4_Schedule(id, time, processor, priority, preemption, nullptr);
    return state ? 0 : L4_ErrorCode();
}
Word state_of(L4_ThreadId_t id) { return L4_Schedule(id, keep, keep, keep, keep, nullptr); }

void no_such_thread()
{
    CHECK_EQUAL(schedule(unused_id(), keep, keep, 50, keep), L4_ErrInvalidThread);
    CHECK_EQUAL(schedule(L4_GlobalId(L4_ThreadNo(main_id), 2), keep, keep, 50, keep), L4_ErrInvalidThread);
    CHECK_EQUAL(L4_Schedule(L4_nilthread, keep, keep, 50, keep, nullptr), 0);
}

Word do_schedule(Word id, Word, Word) { return schedule(L4_ThreadId_t{.raw = id}, keep, keep, 50, keep); }
void not_the_scheduler()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK_EQUAL(ask(a, do_schedule, b->id.raw).value, L4_ErrNoPrivilege);
    // Neither privilege nor the scheduler's space stands in for it.
    Agent *mate = agent(Kind::here);
    if (!mate) return;
    CHECK_EQUAL(ask(mate, do_schedule, b->id.raw).value, L4_ErrNoPrivilege);
    CHECK_EQUAL(ask(mate, do_schedule, mate->id.raw).value, L4_ErrNoPrivilege);
    CHECK_EQUAL(schedule(b->id, keep, keep, 50, keep), 0);
}

void bad_parameters()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(schedule(a->id, keep, keep, 251, keep), L4_ErrInvalidParam); // main has 250
    CHECK_EQUAL(schedule(a->id, 0x04000000, keep, keep, keep), L4_ErrInvalidParam); // slice of zero
    CHECK_EQUAL(schedule(a->id, 0x84010000, keep, keep, keep), L4_ErrInvalidParam); // a point
    CHECK_EQUAL(schedule(a->id, 0x12718401, keep, keep, keep), L4_ErrInvalidParam); // quantum is a point
    CHECK_EQUAL(schedule(a->id, keep, keep, 100, keep), 0);
}

void states()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    ask(a, do_nothing);
    CHECK_EQUAL(state_of(a->id), L4_SCHEDRESULT_WAITING);
    begin(a, [](Word to, Word, Word) {
        L4_Set_MsgTag(L4_Niltag);
        return L4_Send(L4_ThreadId_t{.raw = to}).raw;
    }, main_id.raw);
    pause(3000);
    CHECK_EQUAL(state_of(a->id), L4_SCHEDRESULT_PENDING_SEND);
    L4_Receive_Timeout(a->id, second);
    CHECK(finish(a).done);
    begin(a, [](Word, Word, Word) -> Word {
        for (;;) {}
    });
    pause(3000);
    CHECK_EQUAL(state_of(a->id), L4_SCHEDRESULT_RUNNING);
    L4_Stop(a->id);
    const Word stopped = state_of(a->id);
    CHECK(stopped == L4_SCHEDRESULT_INACTIVE || stopped == L4_SCHEDRESULT_DEAD);
    CHECK_EQUAL(state_of(main_id), L4_SCHEDRESULT_RUNNING);
}

void old_time_control()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    CHECK_EQUAL(schedule(a->id, static_cast<Word>(L4_TimePeriod(20000).raw) << 16, keep, keep, keep), 0);
    L4_Time_t slice, quantum;
    CHECK(L4_Timeslice(a->id, &slice, &quantum) != 0);
    CHECK(L4_PeriodUsec(slice) > 10000 && L4_PeriodUsec(slice) <= 20000);
    CHECK_EQUAL(quantum.raw, 0); // never
}

constinit volatile Word counters[3] = {};
Word do_count(Word i, Word, Word)
{
    for (;;) counters[i] = counters[i] + 1;
}

/// A higher thread that wakes by its timeout runs although a lower one computes.
void higher_wakes_by_timeout()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_count, 0);
    for (int i = 0; i < 5; i++) check_duration([] { pause(5000); }, 4000, 9000);
    CHECK(counters[0] != 0);
}

constinit volatile Word sequence[3] = {}, next_place = 0;
void note(Word who)
{
    sequence[next_place] = who;
    next_place = next_place + 1;
}
Word do_wait_and_note(Word from, Word, Word)
{
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    if (L4_IpcSucceeded(tag)) note(1);
    return tag.raw;
}
Word do_send_and_note(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_Niltag);
    const L4_MsgTag_t tag = L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second);
    note(2);
    return tag.raw;
}

/// A send to a higher thread lets it run before the sender goes on; to a lower one, after.
void message_order(Word receiver_priority, Word sender_priority, Word first)
{
    Agent *receiver = agent(Kind::other), *sender = agent(Kind::other);
    if (!receiver || !sender) return;
    next_place = 0;
    CHECK_EQUAL(schedule(receiver->id, keep, keep, receiver_priority, keep), 0);
    CHECK_EQUAL(schedule(sender->id, keep, keep, sender_priority, keep), 0);
    begin(receiver, do_wait_and_note, sender->id.raw);
    pause(3000);
    begin(sender, do_send_and_note, receiver->id.raw);
    CHECK_EQUAL(finish(sender).value, 0);
    CHECK_EQUAL(finish(receiver).value, 0);
    CHECK_EQUAL(sequence[0], first);
}
void message_wakes_higher() { message_order(150, 50, 1); }
void message_to_lower() { message_order(50, 150, 2); }

void lower_starves()
{
    Agent *high = agent(Kind::other), *low = agent(Kind::other);
    if (!high || !low) return;
    CHECK_EQUAL(schedule(high->id, keep, keep, 120, keep), 0);
    CHECK_EQUAL(schedule(low->id, keep, keep, 80, keep), 0);
    begin(high, do_count, 0);
    pause(2000);
    counters[1] = 0;
    begin(low, do_count, 1);
    const Word before = counters[0];
    pause(30000);
    CHECK(counters[0] != before);
    CHECK_EQUAL(counters[1], 0);
    CHECK_EQUAL(schedule(low->id, keep, keep, 121, keep), 0); // a change acts at once
    pause(5000);
    CHECK(counters[1] != 0);
}

void equals_share()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    counters[0] = 0;
    counters[1] = 0;
    begin(a, do_count, 0);
    begin(b, do_count, 1);
    pause(200000);
    const Word x = counters[0], y = counters[1];
    CHECK(x != 0 && y != 0);
    CHECK(x / 3 < y && y / 3 < x);
}

/// Slices of different length give shares of different size.
void slices_count()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK_EQUAL(schedule(a->id, static_cast<Word>(L4_TimePeriod(40000).raw) << 16, keep, keep, keep), 0);
    CHECK_EQUAL(schedule(b->id, static_cast<Word>(L4_TimePeriod(5000).raw) << 16, keep, keep, keep), 0);
    counters[0] = 0;
    counters[1] = 0;
    begin(a, do_count, 0);
    begin(b, do_count, 1);
    pause(300000);
    CHECK(counters[1] != 0 && counters[0] / 2 > counters[1]);
}

/// A microsecond is the shortest time slice that there is: it is rounded up.
void shortest_slice()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    counters[0] = 0;
    counters[1] = 0;
    const Word slice = static_cast<Word>(L4_TimePeriod(1).raw) << 16;
    CHECK_EQUAL(schedule(a->id, slice, keep, keep, keep), 0);
    CHECK_EQUAL(schedule(b->id, slice, keep, keep, keep), 0);
    begin(a, do_count, 0);
    begin(b, do_count, 1);
    pause(100000);
    const Word x = counters[0], y = counters[1];
    CHECK(x != 0 && y != 0);
    CHECK(x / 3 < y && y / 3 < x);
}

Word do_yield(Word i, Word, Word)
{
    for (;;) {
        counters[i] = counters[i] + 1;
        L4_Yield();
    }
}
void yield_alternates()
{
    Agent *a = agent(Kind::here), *b = agent(Kind::here);
    if (!a || !b) return;
    counters[0] = 0;
    counters[1] = 0;
    begin(a, do_yield, 0);
    begin(b, do_yield, 1);
    pause(50000);
    const Word x = counters[0], y = counters[1];
    CHECK(x > 10 && y > 10 && x / 2 < y && y / 2 < x);
}

/// A directed switch lets even a lower thread run.
Word do_count_and_return(Word back, Word, Word)
{
    for (;;) {
        counters[2] = counters[2] + 1;
        L4_ThreadSwitch(L4_ThreadId_t{.raw = back});
    }
}
void switch_to_lower()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_count_and_return, main_id.raw);
    counters[2] = 0;
    for (int i = 0; i < 20; i++) L4_ThreadSwitch(a->id);
    CHECK(counters[2] != 0);
}

Word do_count_and_switch(Word i, Word to, Word)
{
    for (;;) {
        counters[i] = counters[i] + 1;
        L4_ThreadSwitch(L4_ThreadId_t{.raw = to});
    }
}
/// Threads that switch to each other get no more time together than each for itself.
void switchers_share()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other), *c = agent(Kind::other);
    if (!a || !b || !c) return;
    counters[0] = 0;
    counters[1] = 0;
    counters[2] = 0;
    begin(a, do_count_and_switch, 0, b->id.raw);
    begin(b, do_count_and_switch, 1, a->id.raw);
    pause(100000);
    CHECK(counters[0] > 10 && counters[1] > 10);
    begin(c, do_count, 2);
    pause(200000);
    const Word shared = counters[2];
    remove(a);
    remove(b);
    counters[2] = 0;
    pause(200000);
    CHECK(shared > counters[2] / 5);
}

void switch_to_nobody()
{
    L4_ThreadSwitch(unused_id());
    L4_ThreadSwitch(L4_anythread);
    L4_ThreadSwitch(main_id);
    L4_ThreadSwitch(L4_MyLocalId());
}

void clock_goes_on()
{
    L4_Clock_t last = L4_SystemClock();
    for (int i = 0; i < 20000; i++) {
        const L4_Clock_t now = L4_SystemClock();
        CHECK(!(now < last));
        last = now;
    }
    check_duration([] { pause(10000); }, 9000, 20000);
}

constinit volatile Word laps[2] = {};
Word do_run(Word which, Word, Word)
{
    for (;;) laps[which] = laps[which] + 1;
}
/// An endless time slice is never used up: an equal thread waits for ever.
void endless_slice()
{
    Agent *a = agent(Kind::here), *b = agent(Kind::here);
    if (!a || !b) return;
    laps[0] = 0;
    laps[1] = 0;
    CHECK_EQUAL(schedule(a->id, 0, keep, keep, keep), 0);
    ask(a, do_nothing), ask(b, do_nothing); // both wait: neither needs the other's time to be told
    begin(a, do_run, 0);
    begin(b, do_run, 1);
    pause(60000); // whichever began, it is a's turn by now
    const Word before[] = {laps[0], laps[1]};
    pause(100000);
    CHECK(laps[0] != before[0]);
    CHECK_EQUAL(laps[1], before[1]);
}

/// A thread that has never been activated is inactive.
void inactive_state()
{
    const L4_ThreadId_t id = unused_id(), nil = L4_nilthread;
    const auto unchanged = reinterpret_cast<void *>(-1);
    CHECK(L4_ThreadControl(id, main_id, main_id, nil, unchanged));
    const Word state = state_of(id);
    L4_ThreadControl(id, nil, nil, nil, unchanged);
    CHECK_EQUAL(state, L4_SCHEDRESULT_INACTIVE);
    CHECK_EQUAL(state_of(id), L4_SCHEDRESULT_ERROR);
    CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
}

/// Local ids name threads of the own space here, too.
void local_destination()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    ask(a, do_nothing);
    CHECK_EQUAL(state_of(a->local), L4_SCHEDRESULT_WAITING);
    CHECK_EQUAL(state_of(L4_ThreadId_t{.raw = a->local.raw + 64}), L4_SCHEDRESULT_ERROR);
    CHECK_EQUAL(L4_ErrorCode(), L4_ErrInvalidThread);
}

/// A sensitive priority above the caller's is refused, and so is nothing else of the word.
void bad_preemption_control()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(schedule(a->id, keep, keep, keep, 251 << 16 | 1000), L4_ErrInvalidParam);
    CHECK_EQUAL(schedule(a->id, keep, keep, keep, 250 << 16 | 1000), 0);
    CHECK_EQUAL(schedule(a->id, keep, keep, keep, 0), 0);
}

/// The only processor is number 0; another one is an error, and leaves the thread where it is.
void processor_numbers()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK(L4_Set_ProcessorNo(a->id, 0) != 0);
    CHECK_EQUAL(schedule(a->id, keep, 1, keep, keep), L4_ErrInvalidParam);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return static_cast<Word>(L4_ProcessorNo()); }).value, 0);
}

/// A word of all ones changes nothing: the slice and the priority stay what they were.
void all_ones_change_nothing()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    const Word slice = L4_TimePeriod(8000).raw;
    CHECK_EQUAL(schedule(a->id, slice << 16, keep, 90, keep), 0);
    CHECK(state_of(a->id) != 0);
    Word old = 0;
    CHECK(L4_Schedule(a->id, keep, keep, keep, keep, &old) != 0);
    const L4_Time_t left = {.raw = static_cast<L4_Word16_t>(old >> 16)};
    CHECK(L4_PeriodUsec(left) <= 8000 && L4_PeriodUsec(left) > 4000);
    CHECK_EQUAL(old & 0xFFFF, 0);
}

/// A total quantum is handed out in words that say what is left of it.
void remaining_quantum()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    ask(a, do_nothing);
    CHECK(L4_Set_Timeslice(a->id, L4_TimePeriod(10000), L4_TimePeriod(500000)) != 0);
    laps[0] = 0;
    begin(a, do_run, 0);
    pause(100000);
    L4_Time_t slice, quantum;
    CHECK(L4_Timeslice(a->id, &slice, &quantum) != 0);
    CHECK(L4_PeriodUsec(quantum) < 490000 && quantum.raw != 0);
    CHECK(L4_PeriodUsec(slice) <= 10000);
}

} // namespace

const Test schedule_tests[] = {
    {"schedule.no_such_thread", no_such_thread},
    {"schedule.not_the_scheduler", not_the_scheduler},
    {"schedule.bad_parameters", bad_parameters},
    {"schedule.states", states},
    {"schedule.old_time_control", old_time_control},
    {"schedule.higher_wakes_by_timeout", higher_wakes_by_timeout},
    {"schedule.message_wakes_higher", message_wakes_higher},
    {"schedule.message_to_lower", message_to_lower},
    {"schedule.lower_starves", lower_starves},
    {"schedule.equals_share", equals_share},
    {"schedule.slices_count", slices_count},
    {"schedule.shortest_slice", shortest_slice},
    {"schedule.yield_alternates", yield_alternates},
    {"schedule.switch_to_lower", switch_to_lower},
    {"schedule.switchers_share", switchers_share},
    {"schedule.switch_to_nobody", switch_to_nobody},
    {"schedule.clock_goes_on", clock_goes_on},
    {"schedule.endless_slice", endless_slice},
    {"schedule.inactive_state", inactive_state},
    {"schedule.local_destination", local_destination},
    {"schedule.bad_preemption_control", bad_preemption_control},
    {"schedule.processor_numbers", processor_numbers},
    {"schedule.all_ones_change_nothing", all_ones_change_nothing},
    {"schedule.remaining_quantum", remaining_quantum},
    {nullptr, nullptr},
};

} // namespace x2test
