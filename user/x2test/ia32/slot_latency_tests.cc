// SPDX-License-Identifier: BSD-2-Clause
// How long interrupts are off while the rules about slots do something (kernel/slots/policy.cpp), with the option
// latency=1 only. The laboratory counts, between the marks and where there are none in the whole case.
#include "../crowd.h"
#include "tables.h"

#include <cobnut/lab.h>
#include <cobnut/tags.h>

namespace x2test {
namespace {

void sleep_to_next_tick() { pause(1); }

[[noreturn]] void sleep_at_each_tick()
{
    for (;;) sleep_to_next_tick();
}

constexpr Word low_kip = 0x10000, low_utcbs = 0x20000, past_the_slot = 0x180000; ///< the first two within 1 MB

/// Behind the crowd and the other spaces.
L4_ThreadId_t member(Word n) { return Crowd::id(most_in_crowd + wish.spaces + n); }

/// A space with an exclusive slot of 1 MB, where one is free, whose thread waits for its start.
bool make(Word n)
{
    const L4_ThreadId_t id = member(n);
    return L4_ThreadControl(id, id, main_id, L4_nilthread, reinterpret_cast<void *>(-1)) &&
           L4_SpaceControl(id, 0, L4_FpageLog2(low_kip, 12), L4_FpageLog2(low_utcbs, 12), L4_nilthread, nullptr) &&
           L4_ThreadControl(id, id, main_id, main_id, reinterpret_cast<void *>(low_utcbs));
}

/// Likewise, with a slot in the host of `leader`, which was asked for.
bool make_bound(Word n, L4_ThreadId_t leader) { return make(n) && cobnut::bind(member(n), leader); }

void remove_members(Word made)
{
    while (made-- > 0)
        L4_ThreadControl(member(made), L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
}

/// A space with tables that hold no pages any more seeks half of the area, whose other half is taken: it is
/// in vain, but each time one of many sleepers loses a shorter slot. A crowd's timeouts expire at the same ticks.
void seek_tag_and_expire()
{
    constexpr Word sleepers = 48;
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *half = agent(Kind::large), *a = agent(Kind::large), *b = agent(Kind::large);
    if (!b || !give_tables(a, 192 * mb, 256 * mb)) return;
    L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
    if (!cobnut::give_slot(half->id, 8) || !cobnut::give_slot(b->id, 4)) return fail("no slots");
    Word made = 0;
    while (made < sleepers && make(made)) made++;
    const Crowd crowd(L4_nilthread, main_id, L4_Never, L4_Never, sleep_at_each_tick);
    if (made < sleepers || !crowd.complete() || !cobnut::leave_to_kernel(a->id)) return fail("not complete");
    for (Word n = 0; n < wish.threads; n++) L4_Set_Priority(Crowd::id(n), 200);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    begin(b, do_increment_words, a->id.raw);
    begin(a, do_call_for_ever, b->id.raw);
    for (Word tick = 0; tick < 200 + 2 * wish.spaces; tick++) sleep_to_next_tick();
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    remove_members(made);
}

void start_member(Word n)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, past_the_slot);
    L4_LoadMR(2, 0);
    if (L4_IpcFailed(L4_Send_Timeout(member(n), second))) fail("%u does not start", n);
}

/// Members of a large group outgrow their slots: their threads begin past these. What makes the group, by privileged
/// calls, is not counted.
void grow_in_group()
{
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    const Agent *leader = agent(Kind::large);
    if (!leader) return;
    const Word room = wish.area_mb / 4 * 3, most = room - 16;
    Word made = 0;
    while (made < most && make_bound(made, leader->id)) made++;
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    for (Word n = made; made == most && n-- > made - 4;) {
        if (!cobnut::leave_to_kernel(member(n))) fail("%u stays as it is", n);
        start_member(n);
        pause(1000);
    }
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (cobnut::tag_of(member(most - 1)).size_mb != 2) fail("it does not grow");
    if (made < most) fail("only %u in the group: error %u", made, L4_ErrorCode());
    remove_members(made);
}

/// The rules look at a leader with a group that has to do with somebody else. The members are ready, with a priority at
/// which they never run: a space that sleeps would lose its slot.
void turn_away_from_group(Agent *leader, Word most, bool given_up)
{
    Agent *other = agent(Kind::large);
    if (!other) return;
    Word made = 0;
    while (made < most && make_bound(made, leader->id)) made++;
    for (Word n = 0; n < made; n++) {
        L4_Set_Priority(member(n), 1);
        if (!cobnut::leave_to_kernel(member(n))) fail("%u stays as it is", n);
        start_member(n);
    }
    if (!cobnut::leave_to_kernel(leader->id)) fail("the leader stays as it is");
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    begin(other, do_increment_words, leader->id.raw);
    begin(leader, do_call_for_ever, other->id.raw);
    // The rules look at four spaces a tick: two rounds.
    for (Word tick = 0; tick < (most + wish.spaces) / 2 + 40; tick++) sleep_to_next_tick();
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (made < most) fail("only %u in the group: error %u", made, L4_ErrorCode());
    if (!cobnut::tag_of(member(0)).size_mb != given_up) fail("the group is%s given up", given_up ? " not" : "");
    remove_members(made);
}

void leave_group()
{
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    turn_away_from_group(agent(Kind::large), wish.area_mb / 4 * 3 - 16, false);
}

/// Likewise, where the group is small enough to be given up, and its leader has many tables to be looked through.
void leave_group_for_another()
{
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *leader = agent(Kind::large);
    if (!give_tables(leader, 192 * mb, 256 * mb)) return;
    L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
    turn_away_from_group(leader, 8, true);
}

} // namespace

const Test slot_latency_tests[] = {
    {"latency.seek_tag_and_expire", seek_tag_and_expire},
    {"latency.grow_in_group", grow_in_group},
    {"latency.leave_group", leave_group},
    {"latency.leave_group_for_another", leave_group_for_another},
    {nullptr, nullptr},
};

} // namespace x2test
