// SPDX-License-Identifier: BSD-2-Clause
// What others can do while a space is deleted, which the kernel does in parts: a thread with a higher priority wakes in
// between. Until its slot is given up no other space has that, and members that run on its page directory find no
// copies of what has been taken meanwhile.
#include "../crowd.h"

#include <cobnut/audit.h>
#include <cobnut/tags.h>

namespace x2test {
namespace {

const auto unchanged = reinterpret_cast<void *>(-1);

bool remove_thread(L4_ThreadId_t id)
{
    return L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
}
void to_next_tick() { pause(1); }

/// Turns of a loop that take as long as from one tick of the clock to the next.
void spin(Word turns)
{
    for (Word i = 0; i < turns; i++) __asm__ volatile("" ::: "memory");
}
Word turns_a_tick()
{
    constexpr Word some = 64, ticks = 16, us = 1000;
    Word turns = 0;
    to_next_tick();
    for (const L4_Clock_t start = L4_SystemClock(); L4_SystemClock().raw < start.raw + ticks * us; turns += some)
        spin(some);
    return turns / ticks;
}
constinit volatile bool keeps_on = false;

/// Makes a space with a slot that it asks for, and deletes it, again and again.
Word do_come_and_go(Word thread, Word slot, Word)
{
    const L4_ThreadId_t id = {.raw = thread};
    while (keeps_on) {
        if (!L4_ThreadControl(id, id, main_id, L4_nilthread, unchanged)) return L4_ErrorCode();
        L4_SpaceControl(id, L4_SmallSpaceChange | L4_SmallSpace(slot * 16, 16), L4_FpageLog2(kip_area, 12),
                        L4_FpageLog2(utcb_area, 12), L4_nilthread, nullptr);
        if (!remove_thread(id)) return L4_ErrorCode();
    }
    return 0;
}

/// A slot is not given away before its space has lost it: else it would be freed a second time then.
void slot_is_given_once()
{
    constexpr Word ticks = 200, slot = 3;
    Agent *helper = agent(Kind::here), *first = agent(Kind::large), *next = agent(Kind::large);
    if (!helper || !first || !next || !small_spaces()) return;
    const L4_ThreadId_t id = unused_id();
    const Word a_tick = turns_a_tick();
    Random random(wish.seed);
    for (Word i = 0; i < ticks;) {
        keeps_on = true;
        begin(helper, do_come_and_go, id.raw, slot);
        for (bool given = false; !given && i < ticks; i++) {
            spin(random.below(a_tick));
            to_next_tick();
            given = make_small(first, slot);
        }
        keeps_on = false;
        CHECK_EQUAL(finish(helper).value, 0);
        if (small_number(first)) CHECK(!make_small(next, slot));
        CHECK(make_large(first));
    }
    CHECK_EQUAL(cobnut::audit().faults, 0);
}

/// Answers each call with the word at an address.
[[noreturn]] Word do_serve_word(Word address, Word, Word)
{
    L4_ThreadId_t client;
    L4_Wait(&client);
    for (;;) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
        L4_LoadMR(1, *reinterpret_cast<volatile Word *>(address));
        L4_ReplyWait(client, &client);
    }
}

Word do_call_for_word(Word server, Word, Word)
{
    Word mr = 0;
    L4_Set_MsgTag(L4_Niltag);
    if (L4_IpcFailed(L4_Call(L4_ThreadId_t{.raw = server}))) return ~0u;
    L4_StoreMR(1, &mr);
    return mr;
}

Word do_delete(Word thread, Word, Word) { return remove_thread(L4_ThreadId_t{.raw = thread}); }

constexpr Word low_kip = 0x10000, low_utcbs = 0x20000; // within 1 MB
/// Behind the crowd and the other spaces.
L4_ThreadId_t member(Word n) { return Crowd::id(most_in_crowd + wish.spaces + n); }
/// A space that fits in 1 MB.
bool make_space(Word n)
{
    const L4_ThreadId_t id = member(n);
    return L4_ThreadControl(id, id, main_id, L4_nilthread, unchanged) &&
           L4_SpaceControl(id, 0, L4_FpageLog2(low_kip, 12), L4_FpageLog2(low_utcbs, 12), L4_nilthread, nullptr) &&
           L4_ThreadControl(id, id, main_id, main_id, reinterpret_cast<void *>(low_utcbs));
}

/// The next thread runs for that many turns, from when this function returns to when wake_after() does.
void align(Word turns, Word a_tick)
{
    to_next_tick();
    spin(a_tick - turns % a_tick);
}
void wake_after(Word turns, Word a_tick)
{
    for (Word i = 0; i <= turns / a_tick; i++) to_next_tick();
}

/// A leader's members, the last of which runs, and two spaces that have the same slot one after the other.
struct Scene {
    Agent *helper, *last, *before, *behind;
    Word made, slot;

    bool prepare();
    /// Deletes a leader, and looks after so many turns. False: they were too many, or too few.
    bool attempt(Word turns, Word a_tick, bool &too_many);
    ~Scene()
    {
        while (made-- > 0) remove_thread(member(made));
    }
};

constexpr Word mark = 0x1000;
constexpr Word named_mb = 512, most = named_mb / 4 * 3 - 32; // where slots have names; members in the part for groups

bool Scene::prepare()
{
    constexpr Word low = 50;
    helper = agent(Kind::here), last = agent(Kind::large), before = agent(Kind::large), behind = agent(Kind::large);
    if (!helper || !last || !before || !behind) return false;
    mark_arena(mark);
    give_page(before, 0, free_area, L4_FullyAccessible);
    give_page(behind, 1, free_area, L4_FullyAccessible);
    begin(before, do_serve_word, free_area);
    begin(behind, do_serve_word, free_area);
    L4_Set_Priority(helper->id, low);
    slot = named_mb / 16 - 1;
    while (made < most && make_space(made)) made++;
    if (made < most) fail("only %u members: error %u", made, L4_ErrorCode());
    return made == most;
}

bool Scene::attempt(Word turns, Word a_tick, bool &too_many)
{
    Agent *leader = agent(Kind::large);
    if (!leader) return false;
    for (Word n = 0; n < made; n++)
        if (!cobnut::bind(member(n), leader->id)) fail("no slot for member %u", n);
    if (!cobnut::bind(last->id, leader->id)) fail("no slot for the last member");
    if (!make_large(behind) || !make_small(before, slot)) fail("no slot in all hosts");
    if (ask(leader, do_call_for_word, before->id.raw).value != mark) fail("no answer");
    align(turns, a_tick);
    begin(helper, do_delete, leader->id.raw);
    wake_after(turns, a_tick);
    too_many = !cobnut::tag_of(last->id).bound;
    const bool good = !too_many && !cobnut::tag_of(member(0)).bound;
    if (good) {
        if (!make_large(before) || !make_small(behind, slot)) fail("the slot is not free");
        const Word got = ask(last, do_call_for_word, behind->id.raw).value;
        if (got != mark + 1) fail("%x is another space's, not %x", got, mark + 1);
    }
    finish(helper);
    remove(leader);
    return good;
}

/// A leader that has a copy of what one space has in a slot is deleted. While its last member still runs on its page
/// tables, another space gets that slot.
void host_that_goes()
{
    constexpr int attempts = 12;
    Scene scene{};
    if (!small_spaces() || wish.area_mb < named_mb || !scene.prepare()) return;
    const Word a_tick = turns_a_tick();
    Word turns = 8 * a_tick, step = turns / 2;
    bool too_many = false;
    for (int i = 0; i < attempts; i++, step /= 2) {
        if (scene.attempt(turns, a_tick, too_many)) return;
        turns = too_many ? turns - step : turns + step;
    }
    fail("the deletion was never met half-way");
}

} // namespace

const Test deletion_tests[] = {
    {"deletion.slot_is_given_once", slot_is_given_once},
    {"deletion.host_that_goes", host_that_goes},
    {nullptr, nullptr},
};

} // namespace x2test
