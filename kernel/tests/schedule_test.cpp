// SPDX-License-Identifier: BSD-2-Clause
// Ready queues and their rules, and the timeout queue. schedule_property.cpp compares them with models.
#include "core/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/timeout.hpp"
#include "fake_port.hpp"

namespace {

struct ScheduleTest : testing::Test {
    ~ScheduleTest() override {
        for (auto& t : threads) schedule::make_unready(*t, State::receiving);
        schedule::next(nullptr);
    }
    Thread& make(Word priority) {
        threads.push_back(std::make_unique<Thread>());
        Thread& t = *threads.back();
        t.priority = priority;
        t.become(State::receiving);
        utcbs.push_back(std::make_unique<Utcb>());
        t.utcb = utcbs.back().get();
        t.timeslice = Time{4 << 10 | 625};
        schedule::reset_timeslice(t);
        return t;
    }
    // An interrupt lets a thread of that priority run while `running` does; who goes on?
    Thread* interrupt(Thread& running, Thread& better) {
        schedule::make_ready(better);
        schedule::interrupted();
        return schedule::next(&running);
    }
    // What `donor` gives to `to` lasts for 10 ms, then it is its own turn again.
    static void expect_lent_for_ten_milliseconds(Thread& donor, Thread& to) {
        donor.become(State::ready);
        schedule::make_ready(to);
        schedule::yield(donor, &to);
        EXPECT_EQ(schedule::next(&donor), &to);
        schedule::tick(to, 9000);
        EXPECT_EQ(schedule::next(&to), &to);
        schedule::tick(to, 1000);
        EXPECT_EQ(schedule::next(&to), &donor);
    }
    static void sensitive(Thread& t, Word priority, Word delay, Word flags) {
        t.preemption_control = priority << 16 | delay;
        t.utcb->flags() = flags;
        schedule::rearm_delay(t);
    }
    std::vector<std::unique_ptr<Thread>> threads;
    std::vector<std::unique_ptr<Utcb>> utcbs;
};

TEST_F(ScheduleTest, TheHighestPriorityRuns) {
    Thread &low = make(1), &high = make(200), &zero = make(0);
    for (Thread* t : {&zero, &low, &high}) schedule::make_ready(*t);
    EXPECT_EQ(ready_top, 200u);
    EXPECT_EQ(schedule::next(nullptr), &high);
    EXPECT_EQ(ready_top, 1u);
    EXPECT_EQ(schedule::next(nullptr), &low);
    EXPECT_EQ(schedule::next(nullptr), &zero);
    EXPECT_EQ(schedule::next(nullptr), nullptr);
}

TEST_F(ScheduleTest, TheRunningThreadGoesOnAmongEqualsAndGivesWayToBetter) {
    Thread &running = make(50), &equal = make(50), &better = make(51);
    running.become(State::ready);
    schedule::make_ready(equal);
    EXPECT_EQ(schedule::next(&running), &running);
    schedule::make_ready(better);
    EXPECT_EQ(schedule::next(&running), &better);
    better.become(State::receiving);
    EXPECT_EQ(schedule::next(&better), &running) << "preempted, it comes before its equals";
}

TEST_F(ScheduleTest, YieldGoesToAnEqualOrToTheOneNamed) {
    Thread &running = make(50), &first = make(50), &second = make(50);
    running.become(State::ready);
    schedule::make_ready(first);
    schedule::make_ready(second);
    schedule::yield(running, nullptr);
    EXPECT_EQ(schedule::next(&running), &first);
    schedule::yield(first, &running);
    EXPECT_EQ(schedule::next(&first), &running);
}

TEST_F(ScheduleTest, ATimesliceEndsAfterItsTime) {
    Thread &running = make(50), &equal = make(50);
    running.become(State::ready);
    schedule::make_ready(equal);
    for (int ms = 0; ms < 9; ++ms) {
        schedule::tick(running, 1000);
        ASSERT_EQ(schedule::next(&running), &running) << ms;
    }
    schedule::tick(running, 1000);
    EXPECT_EQ(schedule::next(&running), &equal);
}

TEST_F(ScheduleTest, ASliceThatIsOverStartsAnewWhenNobodyElseWants) {
    Thread &running = make(50), &lower = make(49);
    running.become(State::ready);
    schedule::make_ready(lower);
    for (int ms = 0; ms < 10; ++ms) schedule::tick(running, 1000);
    EXPECT_EQ(schedule::next(&running), &running);
    EXPECT_EQ(running.timeslice_left, 10000u);
}

TEST_F(ScheduleTest, ASwitchDonatesWhatIsLeft) {
    Thread &running = make(50), &to = make(40);
    running.become(State::ready);
    schedule::make_ready(to);
    schedule::tick(running, 3000);
    schedule::yield(running, &to);
    EXPECT_EQ(to.timeslice_left, 17000u);
    EXPECT_EQ(running.timeslice_left, 0u) << "what is given away is gone";
    EXPECT_EQ(schedule::next(&running), &to);
    schedule::make_unready(to, State::receiving);
    EXPECT_EQ(schedule::next(&to), &running);
    EXPECT_EQ(running.timeslice_left, 10000u) << "until its turn";
}

TEST_F(ScheduleTest, WhatIsDonatedRunsAtTheDonorsPriority) {
    Thread &donor = make(50), &to = make(30), &between = make(40), &better = make(60);
    donor.become(State::ready);
    schedule::make_ready(to);
    schedule::make_ready(between);
    schedule::yield(donor, &to);
    EXPECT_EQ(schedule::next(&donor), &to);
    for (int ms = 0; ms < 9; ++ms) {
        schedule::tick(to, 1000);
        ASSERT_EQ(schedule::next(&to), &to) << ms;
    }
    EXPECT_EQ(interrupt(to, better), &better);
    schedule::make_unready(better, State::receiving);
    EXPECT_EQ(schedule::next(&better), &to) << "not the donor, nor who is between them";
    schedule::tick(to, 1000);
    EXPECT_EQ(schedule::next(&to), &donor);
    EXPECT_EQ(to.timeslice_left, 10000u) << "its own time is still to come";
    schedule::make_unready(donor, State::receiving);
    EXPECT_EQ(schedule::next(&donor), &between);
}

TEST_F(ScheduleTest, ADonationEndsWhenItsTakerWaits) {
    Thread &donor = make(50), &to = make(30);
    donor.become(State::ready);
    schedule::make_ready(to);
    schedule::yield(donor, &to);
    EXPECT_EQ(schedule::next(&donor), &to);
    schedule::make_unready(to, State::receiving);
    schedule::make_ready(to);
    EXPECT_EQ(schedule::next(&to), &donor);
}

// What the fast path reads is right about it, too.
TEST_F(ScheduleTest, WhoAPreemptingThreadWakesComesAfterATakerWithABetterDonor) {
    Thread &donor = make(50), &to = make(30), &between = make(40), &better = make(60);
    donor.become(State::ready);
    schedule::make_ready(to);
    schedule::yield(donor, &to);
    EXPECT_EQ(schedule::next(&donor), &to);
    schedule::make_unready(donor, State::receiving);
    EXPECT_EQ(interrupt(to, better), &better);
    EXPECT_EQ(ready_top, 50u);
    schedule::make_unready(better, State::receiving);
    schedule::hand_over(between);
    EXPECT_EQ(schedule::next(&better), &to);
    for (int ms = 0; ms < 10; ++ms) schedule::tick(to, 1000);
    EXPECT_EQ(schedule::next(&to), &between);
    EXPECT_EQ(ready_top, 30u);
}

TEST_F(ScheduleTest, ATakerThatIsHaltedKeepsNothing) {
    Thread &donor = make(50), &to = make(30), &between = make(40);
    donor.become(State::ready);
    schedule::make_ready(to);
    schedule::make_ready(between);
    schedule::yield(donor, &to);
    EXPECT_EQ(schedule::next(&donor), &to);
    to.halted = true;           // by itself
    EXPECT_EQ(schedule::next(&to), &donor);
    to.halted = false;
    schedule::make_ready(to);
    schedule::make_unready(donor, State::receiving);
    EXPECT_EQ(schedule::next(&donor), &between);
}

TEST_F(ScheduleTest, AnotherDonationEndsTheOneBefore) {
    Thread &donor = make(50), &to = make(30), &better = make(60), &other = make(20);
    donor.become(State::ready);
    schedule::make_ready(to);
    schedule::yield(donor, &to);
    EXPECT_EQ(schedule::next(&donor), &to);
    EXPECT_EQ(interrupt(to, better), &better);
    schedule::make_ready(other);
    schedule::yield(better, &other);
    EXPECT_EQ(schedule::next(&better), &other);
    EXPECT_EQ(to.priority, 30u);
    schedule::make_unready(better, State::receiving);
    schedule::make_unready(other, State::receiving);
    EXPECT_EQ(schedule::next(&other), &donor);
}

TEST_F(ScheduleTest, ATakersOwnPriorityIsTheOneThatItIsGiven) {
    Thread &donor = make(50), &to = make(30), &between = make(40);
    donor.become(State::ready);
    schedule::make_ready(to);
    schedule::yield(donor, &to);
    EXPECT_EQ(schedule::next(&donor), &to);
    EXPECT_EQ(schedule::own_priority(to), 30u);
    EXPECT_EQ(schedule::own_priority(donor), 50u);
    schedule::set_priority(to, 45);
    EXPECT_EQ(schedule::next(&to), &to) << "the donor's lasts";
    EXPECT_EQ(schedule::own_priority(to), 45u);
    schedule::make_ready(between);
    schedule::make_unready(donor, State::receiving);
    for (int ms = 0; ms < 10; ++ms) schedule::tick(to, 1000);
    EXPECT_EQ(schedule::next(&to), &to);
    EXPECT_EQ(to.priority, 45u);
    schedule::set_priority(to, 35);
    EXPECT_EQ(schedule::next(&to), &between);
}

TEST_F(ScheduleTest, WhatWasDonatedIsPassedOnAndNoMore) {
    Thread &donor = make(50), &first = make(30), &second = make(20);
    donor.become(State::ready);
    schedule::make_ready(first);
    schedule::make_ready(second);
    schedule::yield(donor, &first);
    EXPECT_EQ(schedule::next(&donor), &first);
    schedule::tick(first, 4000);
    schedule::yield(first, &second);
    EXPECT_EQ(schedule::next(&first), &second);
    schedule::tick(second, 5000);
    EXPECT_EQ(schedule::next(&second), &second);
    schedule::tick(second, 1000);
    EXPECT_EQ(schedule::next(&second), &donor);
}

TEST_F(ScheduleTest, AnEndlessSliceIsLentForAsLongAsTheTakersOwn) {
    Thread &donor = make(50), &to = make(30);
    schedule::set_timeslice(donor, Time::never());
    expect_lent_for_ten_milliseconds(donor, to);
}

TEST_F(ScheduleTest, AnEndlessTakerGivesBackWhatIsUsedUp) {
    Thread &donor = make(50), &to = make(30);
    schedule::set_timeslice(to, Time::never());
    expect_lent_for_ten_milliseconds(donor, to);
}

TEST_F(ScheduleTest, SwitchingToAndFroMakesNoTime) {
    Thread &one = make(50), &other = make(50);
    one.become(State::ready);
    schedule::make_ready(other);
    for (int i = 0; i < 3; ++i) {
        schedule::yield(one, &other);
        ASSERT_EQ(schedule::next(&one), &other);
        schedule::yield(other, &one);
        ASSERT_EQ(schedule::next(&other), &one);
    }
    EXPECT_EQ(one.timeslice_left + other.timeslice_left, 20000u);
}

TEST_F(ScheduleTest, ATotalQuantumIsUsedUpOnce) {
    Thread& running = make(50);
    schedule::set_total_quantum(running, Time{4 << 10 | 625});
    for (int ms = 0; ms < 9; ++ms) EXPECT_FALSE(schedule::tick(running, 1000));
    EXPECT_TRUE(schedule::tick(running, 1000));
    EXPECT_EQ(running.quantum_left, 0u);
    schedule::set_total_quantum(running, Time::never());
    EXPECT_FALSE(schedule::tick(running, 1000));
}

TEST_F(ScheduleTest, ADelayedPreemptionIsPendingUntilTheThreadSwitches) {
    Thread &running = make(50), &better = make(60);
    running.become(State::ready);
    sensitive(running, 60, 2000, preemption_delay);
    EXPECT_EQ(interrupt(running, better), &running);
    EXPECT_TRUE(running.utcb->flags() & preemption_pending);
    schedule::tick(running, 1000);
    EXPECT_EQ(schedule::next(&running), &running);
    schedule::yield(running, nullptr);
    EXPECT_EQ(schedule::next(&running), &better);
    EXPECT_EQ(running.delay_left, 2000u) << "a switch gives the whole delay again";
}

TEST_F(ScheduleTest, WhoIsSwitchedToHasNothingPutOff) {
    Thread &a = make(50), &b = make(50), &better = make(60);
    a.become(State::ready);
    sensitive(a, 60, 2000, preemption_delay);
    EXPECT_EQ(interrupt(a, better), &a);
    schedule::make_unready(better, State::receiving);
    schedule::make_ready(b);
    schedule::yield(a, &b);
    EXPECT_EQ(schedule::next(&a), &b);
    EXPECT_TRUE(a.delay_granted);
    schedule::yield(b, &a);
    EXPECT_EQ(schedule::next(&b), &a);
    schedule::tick(a, 500);
    EXPECT_EQ(a.delay_left, 2000u);
}

TEST_F(ScheduleTest, ADelayHasItsMaximumAndItsOverflowIsSignalled) {
    Thread &running = make(50), &better = make(60);
    running.become(State::ready);
    sensitive(running, 60, 2000, preemption_delay);
    EXPECT_EQ(interrupt(running, better), &running);
    schedule::tick(running, 1000);
    schedule::tick(running, 1000);
    EXPECT_EQ(schedule::next(&running), &better);
    EXPECT_EQ(running.utcb->flags(), 0u) << "nothing is pending any more";
    EXPECT_NE(running.preempted_at, 0u);
}

TEST_F(ScheduleTest, ADelayEndsBeforeTheTickThatIsTooLate) {
    Thread &running = make(50), &better = make(60);
    running.become(State::ready);
    sensitive(running, 60, 3500, preemption_delay);
    EXPECT_EQ(interrupt(running, better), &running);
    for (int ms = 0; ms < 2; ++ms) {
        schedule::tick(running, 999);
        ASSERT_EQ(schedule::next(&running), &running) << ms;
    }
    schedule::tick(running, 999);
    EXPECT_EQ(schedule::next(&running), &better);
}

TEST_F(ScheduleTest, NoDelayIsSoShortThatTheNextTickIsTooLate) {
    Thread &running = make(50), &better = make(60);
    running.become(State::ready);
    sensitive(running, 60, 999, preemption_delay);
    EXPECT_EQ(interrupt(running, better), &better);
    EXPECT_EQ(running.utcb->flags(), preemption_delay);
}

TEST_F(ScheduleTest, NobodyDelaysWhatIsAboveTheSensitivePriority) {
    Thread &running = make(50), &better = make(61);
    running.become(State::ready);
    sensitive(running, 60, 2000, preemption_delay | preemption_signal);
    EXPECT_EQ(interrupt(running, better), &better);
    EXPECT_EQ(running.preempted_at, 0u) << "nor is it signalled";
}

TEST_F(ScheduleTest, OnlyAnInterruptsPreemptionIsSignalled) {
    Thread &running = make(50), &better = make(60);
    running.become(State::ready);
    sensitive(running, 60, 0, preemption_signal);
    schedule::make_ready(better);
    EXPECT_EQ(schedule::next(&running), &better);
    EXPECT_EQ(running.preempted_at, 0u);
    better.become(State::receiving);
    EXPECT_EQ(schedule::next(&better), &running);
    EXPECT_EQ(interrupt(running, better), &better);
    EXPECT_NE(running.preempted_at, 0u);
}

TEST_F(ScheduleTest, HandOverPrefersTheReceiverButNotOverABetterThread) {
    Thread &caller = make(50), &receiver = make(50), &equal = make(50), &better = make(60);
    schedule::make_ready(equal);
    schedule::hand_over(receiver);
    caller.become(State::receiving);
    EXPECT_EQ(schedule::next(&caller), &receiver);
    receiver.become(State::receiving);
    schedule::make_ready(better);
    schedule::hand_over(caller);
    EXPECT_EQ(schedule::next(&receiver), &better);
}

TEST_F(ScheduleTest, AThreadThatIsOpenCannotRun) {
    Thread& t = make(50);
    t.awaited = ThreadId::any();
    t.open();
    EXPECT_EQ(schedule::next(&t), nullptr);
}

TEST_F(ScheduleTest, AThreadThatWasOpenHasAFrameAndWaitsForTheSameAsAUser) {
    Thread& t = make(50);
    t.awaited = ThreadId::any();
    t.become(State::receiving);
    t.open();
    t.awaited = ThreadId::nil();
    t.receive_role = Role::quantum;  // from another wait, before the fast path
    EXPECT_EQ(t.state(), State::open);
    EXPECT_EQ(t.awaits(), ThreadId::any());
    EXPECT_EQ(t.receives_as(), Role::user);
    EXPECT_FALSE(t.fast_entry);  // set by fake_port.cpp where a frame is made
    t.close();
    EXPECT_TRUE(t.fast_entry);
    EXPECT_EQ(t.state(), State::receiving);
    EXPECT_EQ(t.awaited, ThreadId::any());
    EXPECT_EQ(t.receive_role, Role::user);
}

TEST_F(ScheduleTest, HaltedThreadsAreNotQueued) {
    Thread& t = make(50);
    t.halted = true;
    schedule::make_ready(t);
    EXPECT_EQ(schedule::next(nullptr), nullptr);
}

TEST(Timeouts, ComeSoonestFirstAndNotEarly) {
    Thread t[4] = {};
    Microseconds when[] = {300, 100, 200, 100};
    for (int i = 0; i < 4; ++i) timeouts::start(t[i], when[i]);
    EXPECT_EQ(timeouts::expired(99), nullptr);
    EXPECT_EQ(timeouts::expired(100), &t[1]);
    EXPECT_EQ(timeouts::expired(100), &t[3]);
    EXPECT_EQ(timeouts::expired(100), nullptr);
    timeouts::cancel(t[2]);
    timeouts::cancel(t[2]);
    EXPECT_EQ(timeouts::expired(1000), &t[0]);
    EXPECT_EQ(timeouts::expired(1000), nullptr);
}

// Whatever the order in which they start and end: the way to the right bounds each step, and to the left there may be
// all.
TEST(Timeouts, ThousandsStandInALowHeap) {
    constexpr Word many = 4096, most_ranks = 13;
    auto threads = std::make_unique<Thread[]>(many);
    auto highest = [&] {
        Word rank = 0;
        for (Word i = 0; i < many; ++i) {
            EXPECT_TRUE(!threads[i].timeout.queued() || timeouts::in_order(threads[i]));
            rank = std::max(rank, threads[i].timeout.rank);
        }
        return rank;
    };
    Microseconds (*orders[])(Word) = {[](Word i) { return Microseconds{i}; },
        [](Word i) { return Microseconds{many - i}; }, [](Word) { return Microseconds{7}; },
        [](Word i) { return Microseconds{i * 2654435761u % 997}; }};
    for (auto when : orders) {
        for (Word i = 0; i < many; ++i) timeouts::start(threads[i], when(i));
        EXPECT_EQ(timeouts::count(), many);
        EXPECT_LE(highest(), most_ranks);
        for (Word i = 0; i < many; i += 3) timeouts::cancel(threads[i]);
        EXPECT_EQ(timeouts::count(), many - (many + 2) / 3);
        EXPECT_LE(highest(), most_ranks);
        Microseconds last = 0;
        while (Thread* t = timeouts::expired(many)) {
            EXPECT_LE(last, t->timeout.deadline);
            last = t->timeout.deadline;
        }
        EXPECT_EQ(timeouts::count(), 0u);
    }
}

}  // namespace
