// SPDX-License-Identifier: BSD-2-Clause
// What a controller does at random, and what has to come of it.
#include "family.h"
#include "worker.h"

#include <l4/misc.h>
#include <l4/schedule.h>
#include <l4/space.h>

namespace stress {
namespace {

constexpr Word page_log2 = 12, page_size = 1u << page_log2;
constexpr Word flush = 0x40; // Unmap: here too
constexpr Word phase = 256; // operations

L4_Fpage_t page_at(Word address, Word rights) { return L4_FpageLog2(address, page_log2) + rights; }

} // namespace

void Family::one()
{
    if (random_.once_in(8)) L4_Yield();
    const Word space = random_.below(spaces);
    if (!spaces_[space].alive()) return create_space(space);
    const bool calm = count[operations] / phase % 2 != 0;
    calm ? one_of_calm() : one_of_change(space);
}

/// A read or a write by one of the threads of the node's space: a fault if the model says so, else the page's content.
void Family::access(Node node, bool writes, bool fatal)
{
    const Word space = space_of(node), thread = any_thread(space), address = place_address(node % places);
    const bool must_fault = !model_.permits(node, writes);
    const Word value = next_value();
    expected_ = {must_fault, false, node, space, thread, address, writes, fatal};
    count[accesses]++;
    const Word result = writes ? ask(space, thread, do_write, address, value) : ask(space, thread, do_read, address);
    if (must_fault && !expected_.happened)
        fail("space %u %s at %08x without a fault (%08x)", space, writes ? "writes" : "reads", address, result);
    if (must_fault && fatal) return;
    expected_ = {};
    const Word page = model_.page(node);
    if (!writes && result != value_[page])
        fail("space %u reads %08x at %08x, not %08x", space, result, address, value_[page]);
    if (writes) wrote(node, value);
    else model_.accessed(node, false);
}

Word Family::next_value() { return index_ << 28 | ++written_ % (1u << 28); }

void Family::wrote(Node node, Word value)
{
    value_[model_.page(node)] = value;
    model_.accessed(node, true);
}

void Family::access_any()
{
    const Node node = any_node();
    if (usable(node)) access(node, random_.once_in(2), random_.once_in(64));
}

/// Half of the time one where something stale would show.
Node Family::any_node()
{
    const Node node = random_.below(spaces * places), loser = model_.loser(random_.next());
    return random_.once_in(2) && !is_root(loser) ? loser : node;
}

bool Family::usable(Node node) { return spaces_[space_of(node)].alive() && reachable(space_of(node), node % places); }

/// The root space's own view of a page.
void Family::check_root(Word page)
{
    const Word found = content(page);
    model_.accessed(root_of(page), false);
    if (found != value_[page]) fail("page %u holds %08x, not %08x", page, found, value_[page]);
}

/// A worker executes what the kernel has to read for itself, by way of the frame. From page to page it lies elsewhere.
void Family::run_code()
{
    Node node = random_.below(spaces * places);
    for (Word tries = 0; tries < spaces * places && !is_far(model_.page(node)); tries++)
        node = (node + 1) % (spaces * places);
    const Word space = space_of(node), place = node % places;
    if (!model_.present(node) || !reachable(space, place)) return;
    const Word found = ask(space, any_thread(space), do_run, place_address(place) + code_offset(model_.page(node)));
    if (found != kip_area)
        fail("space %u has its interface page at %08x, by code at %08x", space, found, place_address(place));
    model_.accessed(node, false);
    count[runs]++;
}

void Family::change_attribute()
{
    constexpr Word attributes = 4; // from 1: what each processor has
    const Word page = random_.below(pages);
    set_attribute(page, 1 + random_.below(attributes));
}

/// How a page is cached, in all spaces that have it; what it shows stays.
void Family::set_attribute(Word page, Word attribute)
{
    if (!L4_Set_PageAttribute(page_at(page_address(index_, page), 0), attribute))
        fail("page %u takes no attribute: error %u", page, L4_ErrorCode());
    check_root(page);
    count[attribute_changes]++;
}

void Family::map_from_root()
{
    const Word space = random_.below(spaces), place = random_.below(places), page = random_.below(pages);
    if (spaces_[space].alive()) give(page, node_of(space, place), random_.once_in(3) ? Word{read} : read | write);
}

/// Maps a page of the root space.
void Family::give(Word page, Node node, Word rights)
{
    const Word space = space_of(node), place = node % places;
    const L4_MapItem_t item = L4_MapItem(page_at(page_address(index_, page), rights), place_address(place));
    const Word mr[] = {static_cast<Word>(nothing) << 16 | 2u << 6, item.raw[0], item.raw[1]};
    L4_LoadMRs(0, 3, mr);
    await(space, any_thread(space));
    if (model_.map(root_of(page), node, rights, false)) reached(space, place_address(place));
    count[maps]++;
}

void Family::map_from_peer(bool grant)
{
    const Word space = random_.below(spaces), peer = any_space_but(space);
    const Node from = node_of(space, random_.below(places)), to = node_of(peer, random_.below(places));
    if (!spaces_[space].alive() || !spaces_[peer].alive()) return;
    pass(from, to, random_.once_in(3) ? Word{read} : read | write, grant);
}

/// From one space's thread to another's.
void Family::pass(Node from, Node to, Word rights, bool grant, Word value)
{
    const Word space = space_of(from), peer = space_of(to);
    const L4_Fpage_t source = page_at(place_address(from % places), rights);
    const Word base = place_address(to % places);
    const Word item0 = grant ? L4_GrantItem(source, base).raw[0] : L4_MapItem(source, base).raw[0];
    const L4_ThreadId_t receiver = worker(peer, any_thread(peer)).id;
    if (ask(space, any_thread(space), do_send, receiver.raw, item0, source.raw, value))
        fail("space %u cannot send an item", space);
    if (model_.map(from, to, rights, grant)) reached(peer, base);
    count[grant ? grants : maps]++;
}

/// Maps what is somewhere already once more, by the same mapper and now with the right to write.
void Family::widen()
{
    Node node = random_.below(spaces * places);
    for (Word tries = 0; tries < spaces * places && model_.denier(node) == nowhere; tries++)
        node = (node + 1) % (spaces * places);
    const Node denier = model_.denier(node);
    if (denier == nowhere) return;
    if (is_root(denier)) return give(model_.page(node), node, read | write);
    // A granted page can have become the mapper of one beside it, which cannot be mapped within the space.
    if (space_of(denier) == space_of(node) || !reachable(space_of(node), node % places)) return;
    const Word value = next_value();
    pass(denier, node, read | write, false, value);
    wrote(node, value);
}

void Family::unmap_from_root()
{
    const Word page = random_.below(pages);
    unmap_from_root(page, random_.once_in(4) ? Word{write} : random_.once_in(4) ? 0 : Word{all});
}

void Family::unmap_from_root(Word page, Word rights)
{
    const Word status = L4_UnmapFpage(page_at(page_address(index_, page), rights)).raw & all;
    const Status wanted = model_.unmap(root_of(page), rights, false);
    if (status != wanted) fail("page %u has status %u, not %u", page, status, wanted.must);
    count[unmaps]++;
}

void Family::unmap_by_worker()
{
    const Word space = random_.below(spaces), place = random_.below(places);
    if (!spaces_[space].alive()) return;
    const Word rights = random_.once_in(4) ? Word{write} : random_.once_in(4) ? 0 : Word{all};
    const bool here = random_.once_in(2);
    const Word fpage = page_at(place_address(place), rights).raw, control = here ? flush : 0;
    const Node node = node_of(space, place);
    const Word thread = any_thread(space);
    const Status wanted = model_.unmap(node, rights, here);
    Word status;
    if (reachable(space, place) && random_.once_in(2)) {
        // and at once goes there
        const bool writes = random_.once_in(2), must_fault = !model_.permits(node, writes);
        const Word address = place_address(place), value = writes ? next_value() : 0;
        expected_ = {must_fault, false, node, space, thread, address, writes, false};
        status = ask(space, thread, do_unmap, fpage, control, address, value) & all;
        Word found;
        L4_StoreMR(2, &found);
        if (must_fault && !expected_.happened)
            fail("space %u goes to %08x without a fault, after an unmap", space, address);
        expected_ = {};
        if (!writes && found != value_[model_.page(node)]) fail("space %u reads %08x at %08x", space, found, address);
        writes ? wrote(node, value) : model_.accessed(node, false);
    } else {
        status = ask(space, thread, do_unmap, fpage, control) & all;
    }
    if (status != wanted) fail("place %u of space %u has status %u, not %u", place, space, status, wanted.must);
    count[unmaps]++;
}

/// A worker of the node's space unmaps what is there.
void Family::take_away(Node node)
{
    const Word space = space_of(node), place = node % places;
    const Status wanted = model_.unmap(node, all, true);
    const Word status = ask(space, any_thread(space), do_unmap, page_at(place_address(place), all).raw, flush) & all;
    if (status != wanted) fail("place %u of space %u has status %u, not %u", place, space, status, wanted.must);
    count[unmaps]++;
}

void Family::call_peer()
{
    const Word space = random_.below(spaces), peer = any_space_but(space);
    if (!spaces_[space].alive() || !spaces_[peer].alive()) return;
    if (random_.once_in(4)) ask(peer, any_thread(peer), do_yield);
    if (ask(space, any_thread(space), any_call(), worker(peer, any_thread(peer)).id.raw)) fail("a call failed");
    count[peer_calls]++;
}

/// One of a space's two threads goes, or comes back.
void Family::change_threads()
{
    const Word space = random_.below(spaces), thread = random_.below(threads);
    Space &s = spaces_[space];
    if (!s.alive()) return;
    if (L4_IsNilThread(s.workers[thread].id)) create_thread(space, thread);
    else if (!L4_IsNilThread(s.workers[1 - thread].id)) delete_thread(space, thread);
}

} // namespace stress
