// SPDX-License-Identifier: BSD-2-Clause
// Small spaces (manual A.5): the control word, promotion, isolation.
#include "../harness.h"

namespace x2test {
namespace {

constexpr Word effective = L4_SmallSpaceChange;

/// The control word that comes back from asking for small-space number n.
Word ask_for(const Agent *a, Word n)
{
    Word old = 0;
    if (!L4_SpaceControl(a->id, L4_SmallSpaceChange | n, L4_Nilpage, L4_Nilpage, L4_nilthread, &old))
        fail("SpaceControl fails with %u for number %x", L4_ErrorCode(), n);
    return old;
}

void assigned()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    CHECK_EQUAL(small_number(a), 0);
    CHECK_EQUAL(ask_for(a, L4_SmallSpace(16, 16)), effective); // effective; was large
    CHECK_EQUAL(small_number(a), 0x0C);
    CHECK_EQUAL(ask(a, do_nothing).value, 0);
    CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
}

void back_to_large()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    for (int i = 0; i < 5; i++) {
        CHECK_EQUAL(ask_for(a, L4_SmallSpace(0, 16)), effective);
        CHECK_EQUAL(ask(a, do_read, reinterpret_cast<Word>(&wish)).faults, 0);
        CHECK_EQUAL(ask_for(a, L4_LargeSpace), effective | 0x04);
        CHECK_EQUAL(ask(a, do_read, reinterpret_cast<Word>(&wish)).faults, 0);
        CHECK_EQUAL(small_number(a), 0);
    }
}

void moved()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    arena_word(0) = 0x1234;
    give_page(a, 0, free_area, L4_FullyAccessible);
    CHECK_EQUAL(ask_for(a, L4_SmallSpace(0, 16)), effective);
    CHECK_EQUAL(ask(a, do_read, free_area).value, 0x1234);
    CHECK_EQUAL(ask_for(a, L4_SmallSpace(32, 32)), effective | 0x04);
    CHECK_EQUAL(small_number(a), L4_SmallSpace(32, 32));
    CHECK_EQUAL(ask(a, do_read, free_area).value, 0x1234);
    L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
    CHECK(faults_on_read(a, free_area));
}

void occupied()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::large);
    if (!a || !b) return;
    CHECK_EQUAL(ask_for(a, L4_SmallSpace(32, 16)), effective);
    const Word overlapping[] = {L4_SmallSpace(32, 16), L4_SmallSpace(32, 32), L4_SmallSpace(0, 64),
                                L4_SmallSpace(36, 4)};
    for (const Word n : overlapping) {
        CHECK_EQUAL(ask_for(b, n) & effective, 0);
        CHECK_EQUAL(small_number(b), 0);
    }
    CHECK_EQUAL(ask_for(b, L4_SmallSpace(48, 16)), effective);
    CHECK_EQUAL(small_number(a), L4_SmallSpace(32, 16));
}

void freed_by_deletion()
{
    for (int i = 0; i < 20; i++) {
        Agent *a = agent(Kind::large);
        if (!a) return;
        CHECK_EQUAL(ask_for(a, L4_SmallSpace(0, 64)), effective);
        arena_word(0) = 0x7000u + static_cast<Word>(i);
        give_page(a, 0, free_area, L4_FullyAccessible);
        CHECK_EQUAL(ask(a, do_read, free_area).value, 0x7000 + i);
        remove(a);
        L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
    }
    Agent *last = agent(Kind::large);
    if (!last) return;
    CHECK_EQUAL(ask_for(last, L4_SmallSpace(0, 64)), effective);
    CHECK(faults_on_read(last, free_area)); // nothing of those before it shows through
}

/// Sizes and places past the end of the area.
void out_of_range()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    for (Word n = 1; n < 256; n++) {
        const Word lowest = n & -n, size = lowest * 4, place = (n & ~lowest) * 2;
        if (size < 16) continue; // would not hold the agent
        const bool fits = place + size <= wish.area_mb;
        ask_for(a, L4_LargeSpace); // whether a failed move leaves it small is the kernel's choice
        const Word old = ask_for(a, n);
        if (((old & effective) != 0) != fits) {
            fail("number %x (%u MB at %u MB): control word %08x", n, size, place, old);
            return;
        }
        if (!fits) CHECK_EQUAL(small_number(a), 0);
    }
    CHECK_EQUAL(ask(a, do_nothing).value, 0);
}

/// A mapping past the end makes the space large; the program does not notice.
void promoted_by_mapping()
{
    Agent *a = agent(Kind::small);
    if (!a) return;
    CHECK(small_number(a) != 0);
    arena_word(0) = 0xABCD;
    give_page(a, 0, beyond_small, L4_FullyAccessible);
    CHECK_EQUAL(small_number(a), 0);
    const Outcome &out = ask(a, do_read, beyond_small);
    CHECK_EQUAL(out.faults, 0);
    CHECK_EQUAL(out.value, 0xABCD);
}

void demoted_again()
{
    Agent *a = agent(Kind::small);
    if (!a) return;
    for (Word i = 0; i < 4; i++) {
        arena_word(i) = 0xD000 + i;
        give_page(a, i, beyond_small, L4_FullyAccessible);
        CHECK_EQUAL(small_number(a), 0);
        CHECK_EQUAL(ask(a, do_read, beyond_small).value, 0xD000 + i);
        CHECK_EQUAL(ask_for(a, L4_SmallSpace(0, 16)), effective);
        CHECK_EQUAL(ask(a, do_nothing).value, 0);
    }
}

/// What a small space had cached beyond switches is an ordinary large space's once it is promoted: the next large space
/// must not see it at the same addresses. (Shows on Bochs only: QEMU drops such translations by itself.)
void nothing_stays_cached()
{
    Agent *a = agent(Kind::small), *b = agent(Kind::large);
    if (!a || !b) return;
    arena_word(0) = 0xAAAA;
    arena_word(1) = 0xBBBB;
    give_page(a, 0, free_area, L4_FullyAccessible);
    give_page(b, 1, free_area, L4_FullyAccessible);
    CHECK_EQUAL(ask(a, do_read, free_area).value, 0xAAAA);
    ask_for(a, L4_LargeSpace);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(ask(a, do_read, free_area).value, 0xAAAA);
        CHECK_EQUAL(ask(b, do_read, free_area).value, 0xBBBB);
    }
}

/// limits=1: an access past the end promotes too, and is then an ordinary page fault.
void promoted_by_access()
{
    if (!wish.limits) return;
    Agent *a = agent(Kind::small);
    if (!a) return;
    const Outcome &out = ask(a, do_read, beyond_small + 0x124);
    CHECK_EQUAL(out.faults, 1);
    CHECK_EQUAL(out.fault_address, beyond_small + 0x124);
    CHECK_EQUAL(small_number(a), 0);
}

/// limits=1: a small space cannot reach its neighbour's memory, whatever address it tries.
void neighbour_out_of_reach()
{
    if (!wish.limits) return;
    Agent *a = agent(Kind::large), *b = agent(Kind::large);
    if (!a || !b) return;
    CHECK_EQUAL(ask_for(a, L4_SmallSpace(0, 16)), effective);
    CHECK_EQUAL(ask_for(b, L4_SmallSpace(16, 16)), effective);
    arena_word(0) = 0x5EC2E7;
    give_page(b, 0, free_area, L4_FullyAccessible);
    CHECK_EQUAL(ask(b, do_read, free_area).value, 0x5EC2E7);
    CHECK(faults_on_read(a, free_area + 0x01000000)); // where b would be, seen from a's base
}

void isolated()
{
    Agent *a = agent(Kind::small), *b = agent(Kind::small), *c = agent(Kind::large);
    if (!a || !b || !c) return;
    Agent *all[] = {a, b, c};
    for (Word i = 0; i < 3; i++) {
        arena_word(i) = 0x1000 + i;
        give_page(all[i], i, free_area, L4_FullyAccessible);
    }
    for (int round = 0; round < 5; round++)
        for (Word i = 0; i < 3; i++) {
            CHECK_EQUAL(ask(all[i], do_read, free_area).value, 0x1000 + i + static_cast<Word>(round));
            ask(all[i], do_write, free_area, 0x1000 + i + static_cast<Word>(round) + 1);
        }
    for (Word i = 0; i < 3; i++) CHECK_EQUAL(arena_word(i), 0x1000 + i + 5);
}

/// Revocation reaches the relocated addresses, whichever large space lends its page directory.
void unmap_faults_again()
{
    Agent *small = agent(Kind::small), *large1 = agent(Kind::large), *large2 = agent(Kind::large);
    if (!small || !large1 || !large2) return;
    for (int round = 0; round < 4; round++) {
        arena_word(0) = 0xE000u + static_cast<Word>(round);
        give_page(small, 0, free_area, L4_FullyAccessible);
        ask(large1, do_nothing); // the small space runs next in this one's directory
        CHECK_EQUAL(ask(small, do_read, free_area).value, 0xE000 + round);
        ask(large2, do_nothing);
        CHECK_EQUAL(ask(small, do_read, free_area).value, 0xE000 + round);
        L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
        ask(large1, do_nothing);
        CHECK(faults_on_read(small, free_area));
        ask(large2, do_nothing);
        CHECK(faults_on_read(small, free_area));
    }
    CHECK(small_number(small) != 0);
}

/// The fault address is the program's own, not the processor's.
void fault_address_is_relative()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    CHECK_EQUAL(ask_for(a, L4_SmallSpace(48, 16)), effective);
    const Outcome &out = ask(a, do_read, free_area + 0x5678);
    CHECK_EQUAL(out.faults, 1);
    CHECK_EQUAL(out.fault_address, free_area + 0x5678);
    CHECK(small_number(a) != 0);
}

void feature_is_announced() { CHECK(L4_HasFeature("smallspaces")); }

/// A thread that shall go on past its limit: the space becomes large before the kernel returns there.
void started_beyond_limit()
{
    Agent *a = create(L4_nilthread, Kind::small);
    if (!a) return;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, beyond_small);
    L4_LoadMR(2, stack_of(a));
    CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
    finish(a, true);
    CHECK_EQUAL(a->out.fault_address, beyond_small);
    CHECK_EQUAL(small_number(a), 0);
}

} // namespace

const Test small_tests[] = {
    {"small.feature_is_announced", feature_is_announced},
    {"small.assigned", assigned},
    {"small.back_to_large", back_to_large},
    {"small.moved", moved},
    {"small.occupied", occupied},
    {"small.freed_by_deletion", freed_by_deletion},
    {"small.out_of_range", out_of_range},
    {"small.promoted_by_mapping", promoted_by_mapping},
    {"small.demoted_again", demoted_again},
    {"small.nothing_stays_cached", nothing_stays_cached},
    {"small.promoted_by_access", promoted_by_access},
    {"small.neighbour_out_of_reach", neighbour_out_of_reach},
    {"small.isolated", isolated},
    {"small.unmap_faults_again", unmap_faults_again},
    {"small.fault_address_is_relative", fault_address_is_relative},
    {"small.started_beyond_limit", started_beyond_limit},
    {nullptr, nullptr},
};

} // namespace x2test
