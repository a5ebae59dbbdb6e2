// SPDX-License-Identifier: BSD-2-Clause
#include "oracle.h"

#include <cobnut/audit.h>

namespace compose {
namespace {

constexpr Word last_slot_of_regions = 3;

void judge_memory(Word page)
{
    const auto *const words = reinterpret_cast<const volatile Word *>(page_address(page));
    if (words[0] != value[page][0] || words[page_size / sizeof(Word) - 1] != value[page][1])
        fail("the controller reads what was not written last");
}

/// A space that was moved to a slot is there, where it has no pages itself; and no two are in one.
void judge_slots()
{
    Word taken[4] = {};
    for (Word s = 0; s < spaces; s++) {
        if (s < attackers && !alive(s)) continue;
        const Word slot = slot_of(s);
        if (s < attackers && space[s].asked && space[s].slot > last_slot_of_regions && slot != space[s].slot)
            fail("a slot is lost");
        if (slot && taken[slot / 32] >> slot % 32 & 1) fail("two spaces are in one slot");
        taken[slot / 32] |= 1u << slot % 32;
    }
}

} // namespace

bool other_name(Word s, Word address)
{
    const Word slot = slot_of(s);
    return slot && address >> slot_log2 == slot;
}

void judge_read(Word g, Word place, Word kind)
{
    constexpr const char *kinds[] = {agent_read_word, agent_read_multiple, agent_read_translated, agent_read_halves};
    const Node node = Model::node_of(space_of(g), place);
    const bool there = memory.permits(node, false);
    if (!there && other_name(space_of(g), place_address(place))) return;
    const Word page = memory.page(node);
    const Answer answer = order(g, kinds[kind % 4], place_address(place));
    if (!answer.good) return;
    if (!there && !answer.faulted) fail("what is not mapped is read");
    if (there && (answer.r5 != value[page][0] || answer.r6 != value[page][1]))
        fail("a page shows what was not written last");
}

void judge_victim(Word v, Word which)
{
    const Answer answer = order(victim(v), agent_check, canary_places[which], canary | v << 8 | which);
    if (answer.r5) fail("a victim's memory has changed for it");
}

void judge_step(Word s, Word x)
{
    constexpr Word looks = 4, losers = 2;
    Random random(x);
    for (Word i = 0; i < looks && alive(s) && !wrong; i++) {
        Word place = random.below(places);
        for (Word tries = 0; tries < places && !memory.present(Model::node_of(s, place)); tries++)
            place = (place + 1) % places;
        judge_read(keeper_of(s) + random.below(threads_each), place, random.next());
    }
    for (Word i = 0; i < losers && !wrong; i++) {
        const Node node = memory.loser(random.below(8));
        if (node == 0 || Model::is_root(node) || !alive(Model::space_of(node))) continue;
        judge_read(keeper_of(Model::space_of(node)) + random.below(threads_each), node % places, random.next());
    }
    const Word other = random.below(attackers);
    if (alive(other) && !wrong) judge_read(keeper_of(other), random.below(places), random.next());
    if (random.below(2))
        for (Word page = 0; page < memory_pages; page++) judge_memory(page);
    const Word v = random.below(victims);
    if (random.below(2) && !wrong) judge_victim(v, random.below(canaries_each));
    if (random.below(4) == 0 && !victim_intact(v)) fail("a victim's memory has changed");
    judge_slots();
}

void judge_all()
{
    for (Word page = 0; page < memory_pages; page++) judge_memory(page);
    for (Word s = 0; s < attackers; s++)
        for (Word place = 0; place < places && alive(s) && !wrong; place++)
            if (memory.present(Model::node_of(s, place))) judge_read(keeper_of(s), place, place);
    for (Word v = 0; v < victims && !wrong; v++) {
        if (!victim_intact(v)) fail("a victim's memory has changed");
        judge_victim(v, v % canaries_each);
    }
    if (cobnut::audit().faults) fail("the kernel's books do not agree");
}

} // namespace compose
