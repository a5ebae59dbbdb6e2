// SPDX-License-Identifier: BSD-2-Clause
// What takes a rare moment to lose something in a virtual cache, or by way of the one page directory.
#include "../family.h"
#include "../worker.h"

#include <l4/misc.h>
#include <l4/schedule.h>
#include <l4/space.h>

namespace stress {
namespace {

constexpr Word visits_in_all = 160, visits_meeting = 32, visits_departing = 8;
constinit Word visits = 0; // left

} // namespace

/// A node that can be written to without a fault, if one is found.
Node Family::any_writable()
{
    Node node = random_.below(spaces * places);
    for (Word tries = 0; tries < spaces * places && !model_.permits(node, true); tries++)
        node = (node + 1) % (spaces * places);
    return node;
}

/// A string of what begins two pages, their content and their code, which both sides have in their caches.
void Family::copy_string()
{
    prepare_code();
    const Node from = any_writable(), to = any_writable();
    const Word space = space_of(from), peer = space_of(to);
    if (space == peer || !usable(from) || !usable(to)) return;
    if (!model_.permits(from, true) || !model_.permits(to, true)) return;
    access(to, false);
    call_page(to);
    access(from, true);
    const Word receiver = any_thread(peer), bytes = code_at + code_bytes;
    ask(peer, receiver, do_accept, place_address(to % places), bytes);
    if (ask(space, any_thread(space), do_string, worker(peer, receiver).id.raw, place_address(from % places), bytes))
        fail("space %u cannot send a string", space);
    model_.accessed(from, false);
    model_.accessed(to, true);
    value_[model_.page(to)] = value_[model_.page(from)];
    complements_[model_.page(to)] = complements_[model_.page(from)];
    call_page(to);
    count[strings]++;
}

/// Two spaces have the same pages in a megabyte that is not relocated, and use them in turn; then a third has another
/// there.
void Family::share()
{
    const Word one = random_.below(spaces), other = any_space_but(one), page = random_.below(pages);
    if (!spaces_[one].alive() || !spaces_[other].alive()) return;
    const Node first[] = {node_of(one, high_place), node_of(other, high_place)};
    for (Node node : first) {
        take_away(node + 1);
        give(page, node, read | write);
    }
    for (Word turns = 0; turns < 8; turns++) {
        const Node node = first[random_.below(2)];
        random_.once_in(4) ? call_page(node) : access(node, random_.once_in(2));
    }
    count[shares]++;
    const Word third = any_space_but(one);
    if (third == other || !spaces_[third].alive()) return;
    give(random_.below(pages), node_of(third, high_place), read | write);
    random_.once_in(2) ? call_page(node_of(third, high_place)) : access(node_of(third, high_place), random_.once_in(2));
}

/// A new space has three megabytes that are not relocated, and shares the one that it had second, for a while; then it
/// may lose the one that it had first to another space, and goes. A space that follows it has nothing of the others.
void Family::share_in_the_middle()
{
    constexpr Word first_place = 7, last_place = 9;
    const Word space = random_.below(spaces), other = any_space_but(space), page = random_.below(pages);
    delete_space(space);
    create_space(space);
    if (!spaces_[other].alive()) return;
    const auto use = [&](Word who, Word place, Word what) {
        give(what, node_of(who, place), read | write);
        access(node_of(who, place), random_.once_in(2));
    };
    use(space, first_place, random_.below(pages));
    use(space, high_place, page);
    use(space, last_place, random_.below(pages));
    take_away(node_of(other, high_place + 1));
    use(other, high_place, page);
    use(other, high_place, (page + 1) % pages);
    if (random_.once_in(2)) use(other, first_place, random_.below(pages));
    delete_space(space);
    create_space(space);
    constexpr Word not_shared[] = {first_place, last_place};
    for (const Word place : not_shared)
        if (const Node left = node_of(space, place); usable(left)) access(left, false);
}

/// A space runs that only the IPC path has seen run since all caches were flushed, and writes.
void Family::write_unnoticed()
{
    const Node node = any_writable();
    const Word victim = any_space_but(space_of(node));
    if (!usable(node) || !model_.permits(node, true) || !spaces_[victim].alive()) return;
    access(node, true);
    delete_space(victim);
    if (!model_.permits(node, true)) return; // it was the victim's
    access(node, true);
    const Word page = model_.page(node);
    unmap_from_root(page, all);
    check_root(page);
}

/// A space loses a page that is not relocated, right after it was moved.
void Family::lose_when_moved()
{
    const Node node = node_of(random_.below(spaces), places - 1 - random_.below(unrelocated_places));
    const Word space = space_of(node);
    if (!usable(node)) return;
    access(node, random_.once_in(2));
    const Word page = model_.page(node);
    if (!move(space, slots_asked + 1 + random_.below(slots_asked))) return;
    unmap_from_root(page, all);
    access(node, random_.once_in(2));
}

/// From now on, for a while, all families only let their spaces run, more than there are domains, and take nothing
/// away.
void Family::begin_visits() { visits = visits_in_all; }

/// Whether that is so; then it is done. In the end they meet at a place that others have left when they lost their
/// domains: the last one there does not run again until then.
bool Family::visiting()
{
    if (!visits) return false;
    const bool first = visits > visits_in_all - visits_meeting,
               depart = first && visits <= visits_in_all - visits_meeting + visits_departing;
    const bool meet = depart ? index_ == 0 : first || visits <= visits_meeting;
    visits--;
    Word space = random_.below(spaces);
    if (index_ == 0 && depart) space = 0;
    else if (index_ == 0 && !first && space == 0) space = 1 + random_.below(spaces - 1);
    const Node node = node_of(space, high_place);
    if (!spaces_[space].alive()) create_space(space);
    if (visits > visits_in_all - visits_meeting) move(space, home(space)); // in none, they would collide everywhere
    if (!meet) ask(space, any_thread(space), do_yield);
    else if (model_.permits(node, false)) access(node, false);
    else give(random_.below(pages), node, read | write);
    return true;
}

/// Deletes a space of which nothing can be cached but what the kernel has written to its UTCBs.
void Family::delete_unborn()
{
    const Word space = random_.below(spaces);
    delete_space(space);
    unborn_ = true;
    create_space(space);
}

/// Deletes a new space as the answer to a fault behind its UTCBs, where its page table has nothing. Deletes another one
/// for a fault behind the UTCBs of a space that has not run: there the kernel's own table is in force.
void Family::reach_behind_utcbs()
{
    const Word space = random_.below(spaces), other = any_space_but(space);
    delete_space(space);
    create_space(space);
    reach_behind_utcbs(space, space);
    if (!spaces_[other].alive()) return;
    make_thread(space, 0);
    reach_behind_utcbs(other, space);
    delete_space(space);
}

void Family::reach_behind_utcbs(Word space, Word whose)
{
    const Word address = L4_Address(spaces_[whose].utcbs) + 0x80000, thread = any_thread(space);
    expected_ = {true, false, nowhere, space, thread, address, false, true};
    const Word found = ask(space, thread, do_read, address);
    if (!expected_.happened) fail("space %u reads %08x behind UTCBs", space, found);
    expected_ = {};
}

/// A thread whose number no neighbour had before, and to which a message was sent in vain.
void Family::number()
{
    constexpr Word per_page = 1024, most = 32; // what is allocated for numbers stays
    if (count[numbers] == most) return;
    const L4_ThreadId_t id = L4_GlobalId((index_ * most + ++count[numbers]) * per_page, 1);
    const auto unchanged = reinterpret_cast<void *>(-1);
    const auto nobody = [&] {
        constexpr Word no_partner = 2 << 1;
        if (L4_IpcSucceeded(L4_Send_Timeout(id, L4_ZeroTime)) || L4_ErrorCode() != no_partner)
            fail("a message to thread %08x has error %x", id.raw, L4_ErrorCode());
    };
    nobody();
    if (!L4_ThreadControl(id, root_id, root_id, L4_nilthread, unchanged))
        fail("no thread %08x: error %u", id.raw, L4_ErrorCode());
    nobody(); // it is not active
    L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged);
}

} // namespace stress
