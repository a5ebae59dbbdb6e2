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

/// The same of the only member of a group: in another group, all slots of 1 MB are taken, which a longer one may not
/// begin with.
void grow_beside_group()
{
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    const Agent *leader = agent(Kind::large), *other = agent(Kind::large);
    if (!leader || !other) return;
    const Word most = wish.area_mb / 4 * 3 - 16;
    Word made = 0;
    while (made < most && make_bound(made, leader->id)) made++;
    if (made == most && make(made)) made++; // where the others had their slots first
    if (made == most + 1 && make_bound(made, other->id)) made++;
    const L4_ThreadId_t last = member(made - 1);
    if (made != most + 2 || !cobnut::leave_to_kernel(last)) fail("only %u: error %u", made, L4_ErrorCode());
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    start_member(made - 1);
    pause(1000);
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (cobnut::tag_of(last).size_mb == 1) fail("it stays as it is");
    remove_members(made);
}

/// In one group all slots of 1 MB are taken, and another one has a member. A space with an exclusive slot of 2 MB, half
/// of it full of pages and of no use to a group, calls the other group's leader for ever: only one of the last places
/// there can be its own. False after fail(). `made`: how many members there are, of which it is the last.
bool call_beside_group(Agent *leader, Agent *other, Word &made)
{
    const Word most = wish.area_mb / 4 * 3 - 16;
    if (!make(made++) || !cobnut::give_slot(member(0), 0)) return fail("no first slot"), false;
    while (made < most && make_bound(made, leader->id)) made++;
    if (made == most && make_bound(made, other->id)) made++;
    if (made == most + 1 && make(made)) made++;
    if (made != most + 2) return fail("only %u: error %u", made, L4_ErrorCode()), false;
    const L4_ThreadId_t last = member(made - 1);
    constexpr Word place = past_the_slot, ipc_offset = 0xE0;
    const unsigned char *kip = static_cast<const unsigned char *>(L4_GetKernelInterface());
    const Word entry = low_kip + *reinterpret_cast<const Word *>(kip + ipc_offset);
    unsigned char code[] = {0xB8, 0,    0,    0,    0,           // mov other, %eax
                            0x89, 0xC2,                 // mov %eax, %edx
                            0x31, 0xC9, 0x31, 0xF6,     // no timeouts, no words
                            0xBF, 0,    0,    0,    0, 0xFF, 0xD7, 0xEB, 0xEC}; // call *entry; again
    *reinterpret_cast<Word *>(code + 1) = other->id.raw;
    *reinterpret_cast<Word *>(code + 12) = entry;
    const L4_Fpage_t pages = own_memory(20);
    if (L4_IsNilFpage(pages)) return false;
    unsigned char *const there = reinterpret_cast<unsigned char *>(L4_Address(pages) + place - mb);
    for (Word i = 0; i < sizeof code; i++) there[i] = code[i];
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, place);
    L4_LoadMR(2, place + page_size);
    if (L4_IpcFailed(L4_Send_Timeout(last, second)) || L4_IpcFailed(L4_Receive_Timeout(last, second)))
        return fail("no fault"), false;
    const L4_MapItem_t item = L4_MapItem(pages + L4_FullyAccessible, mb);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]), L4_LoadMR(2, item.raw[1]);
    if (L4_IpcFailed(L4_Send_Timeout(last, second))) return fail("no answer"), false;
    const cobnut::Tag tag = cobnut::tag_of(last);
    if (tag.size_mb != 2 || tag.bound) return fail("%u MB", tag.size_mb), false;
    return true;
}

/// `move` is to move it to that group, given its thread, the group's leader and how many members there are. False if it
/// cannot.
template <typename Move> void goes_beside_group(Move move)
{
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *leader = agent(Kind::large), *other = agent(Kind::large);
    Word made = 0;
    if (!other || !call_beside_group(leader, other, made)) return;
    const L4_ThreadId_t last = member(made - 1);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    const bool done = move(last, other, made);
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (!done || cobnut::tag_of(last).size_mb != 2 || !cobnut::tag_of(last).bound) fail("not bound");
    remove_members(made);
}

/// By the rules, at a tick.
void move_beside_group()
{
    goes_beside_group([](L4_ThreadId_t last, Agent *other, Word made) {
        begin(other, do_increment_words, last.raw);
        for (Word tick = 0; tick < 2 * (made + wish.spaces) && !cobnut::tag_of(last).bound; tick++)
            sleep_to_next_tick();
        return true;
    });
}

/// By SpaceControl.
void bind_beside_group()
{
    goes_beside_group([](L4_ThreadId_t last, Agent *other, Word) { return cobnut::bind(last, other->id); });
}

/// The rules look at a leader with a group whose partner is another space. The members are ready, with a priority at
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

/// A slot is asked for by its name where very many others are, which the kernel has chosen.
void name_slot()
{
    constexpr Word whole_area = 0x80; // 512 MB from its beginning on
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    const Agent *a = agent(Kind::large);
    if (!a) return;
    const Word most = wish.area_mb - 16;
    Word made = 0;
    while (made < most && make(made)) made++;
    const bool in_the_way = made && cobnut::tag_of(member(0)).size_mb;
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    Word word = 0;
    L4_SpaceControl(a->id, L4_SmallSpaceChange | whole_area, L4_Nilpage, L4_Nilpage, L4_nilthread, &word);
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (made < most || !in_the_way) fail("only %u in the way: error %u", made, L4_ErrorCode());
    if (!(word & L4_SmallSpaceChange) || small_number(a) != whole_area || cobnut::tag_of(member(0)).size_mb)
        fail("they stay");
    remove_members(made);
}

/// A leader with a large group is given a slot itself.
void slot_for_a_leader()
{
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    const Agent *leader = agent(Kind::large);
    if (!leader) return;
    const Word most = wish.area_mb / 4 * 3 - 16;
    Word made = 0;
    while (made < most && make_bound(made, leader->id)) made++;
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    const bool done = cobnut::give_slot(leader->id, 4);
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (made < most) fail("only %u in the group: error %u", made, L4_ErrorCode());
    if (!done || cobnut::tag_of(leader->id).size_mb != 16 || cobnut::tag_of(member(most - 1)).size_mb)
        fail("the group stays");
    remove_members(made);
}

/// As leave_group_for_another(), where the leader can only have the slot of one that sleeps, which has tables to be
/// looked through, too.
void leave_group_for_a_slot()
{
    if (!wish.latency || !wish.automatic || wish.area_mb != 512) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *leader = agent(Kind::large), *sleeper = agent(Kind::large), *corner = agent(Kind::large);
    if (!corner || !give_tables(leader, 192 * mb, 256 * mb) || !give_tables(sleeper, 16 * mb, 64 * mb)) return;
    L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
    if (!cobnut::give_slot(sleeper->id, 8) || !cobnut::give_slot(corner->id, 4)) return fail("no slots");
    if (!cobnut::leave_to_kernel(sleeper->id)) return fail("the sleeper stays as it is");
    turn_away_from_group(leader, 8, true);
    if (cobnut::tag_of(sleeper->id).size_mb) fail("it keeps its slot");
}

/// A space whose slot takes long to give up: four tables, less pages than are forgotten one by one.
bool make_slow(Agent *a)
{
    if (!a) return false;
    ask(a, do_flush, (L4_FpageLog2(reinterpret_cast<Word>(do_nothing) & -mb, 20) + L4_FullyAccessible).raw, 0x40);
    ask(a, do_nothing);
    for (Word t = 1; t < 4; t++)
        for (Word n = 0; n < 6; n++) give_page(a, 0, t * table_bytes + (128 + n * 16) * page_size, L4_FullyAccessible);
    return true;
}

/// SpaceControl gives a space with a long slot another one, which is taken from its holder.
void name_slot_of_another()
{
    if (!wish.latency || !wish.automatic || wish.area_mb != 512) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *a = agent(Kind::large), *b = agent(Kind::large);
    if (!make_slow(a) || !make_slow(b)) return;
    if (!cobnut::give_slot(a->id, 8) || !cobnut::give_slot(b->id, 8) || !cobnut::leave_to_kernel(b->id))
        return fail("no slots");
    ask(a, do_nothing), ask(b, do_nothing);
    constexpr Word second_half = 0xC0;
    if (cobnut::tag_of(b->id).offset_mb != 256 || cobnut::tag_of(a->id).offset_mb != 0) return fail("elsewhere");
    Word word = 0;
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    L4_SpaceControl(a->id, L4_SmallSpaceChange | second_half, L4_Nilpage, L4_Nilpage, L4_nilthread, &word);
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (!(word & L4_SmallSpaceChange) || cobnut::tag_of(b->id).size_mb) fail("b keeps it");
}

/// A space seeks a slot where two that sleep are in the way.
void seek_over_two_sleepers()
{
    if (!wish.latency || !wish.automatic || wish.area_mb != 512) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *half = agent(Kind::large), *s1 = agent(Kind::large), *s2 = agent(Kind::large), *a = agent(Kind::large),
          *b = agent(Kind::large);
    if (!b || !make_slow(s1) || !make_slow(s2) || !give_tables(a, 192 * mb, 256 * mb)) return;
    L4_Unmap(page_at(arena_page(1), L4_FullyAccessible));
    if (!cobnut::give_slot(half->id, 8) || !cobnut::give_slot(s1->id, 6) || !cobnut::give_slot(s2->id, 6))
        return fail("no slots");
    if (!cobnut::leave_to_kernel(s1->id) || !cobnut::leave_to_kernel(s2->id) || !cobnut::leave_to_kernel(a->id))
        return fail("not left");
    ask(s1, do_nothing), ask(s2, do_nothing);
    ask(a, do_flush, (L4_FpageLog2(192 * mb, 26) + L4_FullyAccessible).raw, 0x40);
    for (Word tick = 0; tick < 400 + 2 * wish.spaces; tick++) sleep_to_next_tick();
    if (!cobnut::tag_of(s1->id).size_mb || !cobnut::tag_of(s2->id).size_mb) fail("too early");
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    begin(b, do_increment_words, a->id.raw);
    begin(a, do_call_for_ever, b->id.raw);
    for (Word tick = 0; tick < 200 + 10 * wish.spaces; tick++) sleep_to_next_tick();
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (cobnut::tag_of(s1->id).size_mb || cobnut::tag_of(s2->id).size_mb)
        fail("they keep it: %u %u, %u", cobnut::tag_of(s1->id).size_mb, cobnut::tag_of(s2->id).size_mb,
             cobnut::tag_of(a->id).size_mb);
}

Word do_give_up_port(Word port, Word, Word)
{
    L4_LoadMR(0, L4_IoFpageLog2(port, 0).raw);
    L4_Unmap(0x40);
    return 0;
}
Word do_in(Word port, Word, Word)
{
    Word value = 0;
    __asm__ volatile("inl %%dx, %%eax" : "+a"(value) : "d"(port));
    return value;
}
/// A thread's first access to a port of a space that has very many pieces of the ports.
void first_port()
{
    constexpr Word first = 0x8000, most = 250;
    if (!wish.latency) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    Agent *a = agent(Kind::large);
    for (Word n = 0; a && n < most; n++) {
        give(a, L4_IoFpageLog2(first + 16 * n, 4), 0, L4_CompleteAddressSpace);
        ask(a, do_give_up_port, first + 16 * n);
        ask(a, do_give_up_port, first + 16 * n + 15);
    }
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    ask(a, do_in, first + 16 * (most - 1) + 3);
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (a->out.port_faults || a->out.exceptions) fail("%u port faults", a->out.port_faults);
}

[[noreturn]] Word do_spin(Word, Word, Word)
{
    for (;;) __asm__ volatile("");
}
/// A group with the longest slots is given up.
void leave_group_of_long_slots()
{
    if (!wish.latency || !wish.automatic) return;
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    const Word most = wish.area_mb == 2048 ? 5 : 2;
    Agent *leader = agent(Kind::large), *other = agent(Kind::large), *member[5];
    if (!other || !give_tables(leader, 192 * mb, 256 * mb)) return;
    L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
    for (Word n = 0; n < most; n++) {
        if (!(member[n] = agent(Kind::large))) return;
        give_page(member[n], 1, (n && most == 2 ? 100 : 200) * mb, L4_FullyAccessible);
        if (!cobnut::bind(member[n]->id, leader->id)) return fail("not bound: %u", n);
        L4_Set_Priority(member[n]->id, 1);
        begin(member[n], do_spin);
        if (!cobnut::leave_to_kernel(member[n]->id)) return fail("not left");
    }
    if (!cobnut::leave_to_kernel(leader->id)) return fail("not left");
    cobnut_lab_mark(COBNUT_LAB_BEGIN, tests_begun);
    begin(other, do_increment_words, leader->id.raw);
    begin(leader, do_call_for_ever, other->id.raw);
    for (Word tick = 0; tick < 300 + 2 * wish.spaces; tick++) sleep_to_next_tick();
    cobnut_lab_mark(COBNUT_LAB_END, tests_begun);
    if (cobnut::tag_of(member[0]->id).bound) fail("not given up: %u", cobnut::tag_of(member[0]->id).size_mb);
}

} // namespace

const Test slot_latency_tests[] = {
    {"latency.seek_tag_and_expire", seek_tag_and_expire},
    {"latency.grow_in_group", grow_in_group},
    {"latency.grow_beside_group", grow_beside_group},
    {"latency.move_beside_group", move_beside_group},
    {"latency.bind_beside_group", bind_beside_group},
    {"latency.leave_group", leave_group},
    {"latency.leave_group_for_another", leave_group_for_another},
    {"latency.name_slot", name_slot},
    {"latency.slot_for_a_leader", slot_for_a_leader},
    {"latency.leave_group_for_a_slot", leave_group_for_a_slot},
    {"latency.name_slot_of_another", name_slot_of_another},
    {"latency.leave_group_of_long_slots", leave_group_of_long_slots},
    {"latency.first_port", first_port},
    {"latency.seek_over_two_sleepers", seek_over_two_sleepers},
    {nullptr, nullptr},
};

} // namespace x2test
