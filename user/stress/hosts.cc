// SPDX-License-Identifier: BSD-2-Clause
// What a controller does while the root space is small: then large spaces' page directories stay in force when they are
// deleted or become small themselves. All calls are raw, and no thread may fault but where it is wanted.
#include "family.h"
#include "raw_calls.h"
#include "worker.h"

#include <initializer_list>
#include <l4/schedule.h>
#include <l4/space.h>

namespace stress {
namespace {

// As cobnut::give_slot and cobnut::bind ask.
constexpr Word own = 1u << 28, slot_of_1_mb = own | 2;
Word bind_to(L4_ThreadId_t leader) { return own | L4_ThreadNo(leader) << 8 | 1; }

L4_Fpage_t page_at(Word address, Word rights) { return L4_FpageLog2(address, 12) + rights; }

slots::Slot any_granule(Random &random)
{
    return {random.below(slots::pool_mb / slots::granule_mb) * slots::granule_mb, slots::granule_mb};
}

} // namespace

/// A large space becomes small while its page directory is in force, loses a page, and is large again: it has to fault
/// there.
void Family::demote_host()
{
    const Word victim = random_.below(spaces), leader = any_space_but(victim);
    if (!spaces_[victim].alive() || spaces_[victim].tag != Tag::large) return;
    raw::prepare();
    const Node node = node_of(victim, probed);
    if (!model_.present(node)) give(random_.below(pages), node, read | write);
    const Word thread = any_thread(victim), address = place_address(probed), page = model_.page(node);
    const Word tag = static_cast<Word>(do_probe) << 16;
    ask(victim, thread, do_probe);
    model_.accessed(node, false);
    const L4_ThreadId_t id = worker(victim, thread).id;
    const bool binds = spaces_[leader].alive() && spaces_[leader].tag == Tag::large && random_.once_in(2);
    const Word log2_mb = random_.below(3);
    const Word wanted = binds ? bind_to(worker(leader, any_thread(leader)).id) : log2_mb << 8 | slot_of_1_mb;

    const slots::Slot here = any_granule(random_);
    if (!raw::resize(root_id, slots::name_of(here))) return;
    raw::call(id, tag);
    const bool demoted = raw::resize(id, wanted);
    raw::unmap(page_at(page_address(index_, page), all));
    raw::resize(id, 0);
    const Word found = raw::call(id, tag);
    raw::resize(root_id, 0);

    slots::move_in(here, slots::next_incarnation());
    dissolve(victim);
    model_.unmap(root_of(page), all, false);
    if (demoted) count[demotions]++, count[made_large]++;
    Word where;
    L4_StoreMR(1, &where);
    if (found >> 20 != 0xFFE || where != address)
        fail("space %u goes to %08x without a fault, after it was small (%08x, %08x)", victim, address, found, where);
    answer_with(page_address(index_, page), address, read | write);
    const Word result = await(victim, thread);
    model_.map(root_of(page), node, read | write, false);
    model_.accessed(node, false);
    if (result != value_[page]) fail("space %u reads %08x at %08x", victim, result, address);
}

/// A space is bound to a leader, and another one follows it in its slot while the leader's page directory stays in
/// force: the second must not find what is cached of the first. Sometimes a third has the rest of their page table.
void Family::succeed_bound()
{
    const Word leader = random_.below(spaces), turn = random_.below(spaces - 1);
    const auto other = [&](Word i) { return (leader + 1 + (turn + i) % (spaces - 1)) % spaces; };
    const Word first = other(0), next = other(1), third = other(2);
    if (!spaces_[leader].alive() || !spaces_[first].alive() || !spaces_[next].alive()) return;
    raw::prepare();
    if (!move(leader, 0) || !move(first, 0) || !move(next, 0)) return;
    for (Word space : {first, next, third})
        if (spaces_[space].alive()) lose_beyond_1_mb(space);
    if (spaces_[third].alive()) bind(third, leader);
    if (!bind(first, leader)) return;
    const Word page = random_.below(pages);
    give(page, node_of(first, probed), read | write);
    give((page + 1) % pages, node_of(next, probed), read | write);
    const Word first_thread = any_thread(first), next_thread = any_thread(next);
    ask(first, first_thread, do_probe);
    ask(next, next_thread, do_probe);
    model_.accessed(node_of(first, probed), false);
    model_.accessed(node_of(next, probed), false);
    const Word leader_thread = any_thread(leader);
    ask(leader, leader_thread, nothing); // as below, where it must not fault
    const L4_ThreadId_t leader_id = worker(leader, leader_thread).id;
    const L4_ThreadId_t first_id = worker(first, first_thread).id, next_id = worker(next, next_thread).id;

    const slots::Slot here = any_granule(random_);
    const Word tag = static_cast<Word>(do_probe) << 16;
    if (!raw::resize(root_id, slots::name_of(here))) return;
    raw::call(leader_id, static_cast<Word>(nothing) << 16);
    raw::call(first_id, tag);
    raw::resize(first_id, 0);
    const bool follows = raw::resize(next_id, bind_to(leader_id));
    const Word answered = raw::call(next_id, tag);
    raw::resize(next_id, 0);
    raw::resize(root_id, 0);

    slots::move_in(here, slots::next_incarnation());
    became(first, Tag::large, spaces_[first].slot, {});
    dissolve(next);
    if (follows) count[demotions]++, count[regroups]++, count[made_large]++;
    Word found;
    L4_StoreMR(1, &found);
    const Word wanted = value_[(page + 1) % pages];
    if (answered >> 16 != answer || found != wanted)
        fail("space %u reads %08x, not %08x, after space %u in the same group (%08x)", next, found, wanted, first,
             answered);
}

/// Deletes a large space while its page directory is the one in force: the root space is small for that long, and after
/// it runs, like one more small space, on the kernel's own directory. Then a new space may have the victim's frames,
/// its page directory's among them, and a small space follows the root space in its slot, or gets a table to share.
void Family::delete_host()
{
    const Word victim = random_.below(spaces), other = any_space_but(victim);
    if (!spaces_[victim].alive() || spaces_[victim].tag != Tag::large) return;
    raw::prepare();
    const L4_ThreadId_t none = L4_nilthread;
    const bool with_other = spaces_[other].alive() && spaces_[other].small();
    // No thread may fault when the calls are raw.
    for (Word thread = 0; thread < threads; thread++)
        if (!L4_IsNilThread(worker(victim, thread).id)) ask(victim, thread, do_yield);
    const Word other_thread = any_thread(other);
    if (with_other) ask(other, other_thread, do_yield);

    const slots::Slot here = any_granule(random_), next = any_granule(random_);
    const Word incarnation = slots::next_incarnation();
    const Word tag = static_cast<Word>(nothing) << 16;
    if (!raw::resize(root_id, slots::name_of(here))) return;
    if (slots::move_in(here, incarnation)) count[slot_reuses]++;
    raw::call(worker(victim, any_thread(victim)).id, tag);
    L4_ThreadId_t last = none;
    for (Worker &w : spaces_[victim].workers) {
        if (L4_IsNilThread(w.id)) continue;
        raw::remove(last = w.id);
        w.id = none;
        count[thread_deletions]++;
    }
    const bool again = random_.once_in(2) && raw::create(last);
    const L4_ThreadId_t follower = worker(other, other_thread).id;
    bool follows = false;
    if (with_other) {
        raw::call(follower, tag);
        const bool named = random_.once_in(2) && !here.overlaps(next) && raw::resize(root_id, slots::name_of(next));
        if (spaces_[other].tag == Tag::slot)
            follows = raw::resize(follower, named ? slots::name_of(here) : slot_of_1_mb);
        if (follows) raw::call(follower, tag);
    }
    if (again) raw::remove(last);
    raw::resize(root_id, 0);
    note_deleted(victim);
    if (follows) {
        const cobnut::Tag now = cobnut::tag_of(follower);
        became(other, Tag::slot, spaces_[other].slot, {now.offset_mb, now.size_mb});
    }
    count[host_deletions]++;
}

} // namespace stress
