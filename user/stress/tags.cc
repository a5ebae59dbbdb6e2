// SPDX-License-Identifier: BSD-2-Clause
// What a controller does at random to slots, and what has to come of it. What was asked for stays; what the kernel has
// chosen by itself it may change at each tick of its clock.
#include "family.h"
#include "worker.h"

#include <l4/schedule.h>
#include <l4/space.h>

namespace stress {
namespace {

constexpr Word page_size = 4096;
constexpr unsigned mb_log2 = 20;

L4_Fpage_t page_at(Word address, Word rights) { return L4_FpageLog2(address, 12) + rights; }

/// A slot by a name that SpaceControl has, of 4 to 16 MB.
Word any_name(Random &random)
{
    const Word size = slots::granule_mb << random.below(3);
    return L4_SmallSpace(random.below(slots::pool_mb / size) * size, size);
}

} // namespace

/// A page of the space has come to be at `address`: one whose slot was asked for, and ends before it, is large now.
void Family::reached(Word space, Word address)
{
    Space &s = spaces_[space];
    if (!s.small() || address < s.slot.size_mb << 20) return;
    if (s.tag == Tag::slot) count[promotions]++;
    s.tag = Tag::large;
    s.slot = {};
}

/// The end of what the space has: a tag of the kernel's choice holds it at any time.
Word Family::extent(Word space) const
{
    Word end = utcb_area + (1u << utcb_area_log2);
    for (Word place = 0; place < places; place++)
        if (model_.present(node_of(space, place)) && place_address(place) >= end)
            end = place_address(place) + page_size;
    return end;
}

/// The emulator enforces no limits: what may be beyond a slot must not be tried.
bool Family::reachable(Word space, Word place)
{
    const Space &s = spaces_[space];
    Word limit_mb = 1;
    if (s.tag == Tag::large) return true;
    if (s.small()) limit_mb = s.slot.size_mb;
    else
        while (limit_mb << 20 < extent(space)) limit_mb *= 2;
    return place_address(place) < limit_mb << 20;
}

/// Where the kernel says that the space is, after a look whether it can be there.
slots::Slot Family::check_tag(Word space)
{
    Space &s = spaces_[space];
    const cobnut::Tag tag = cobnut::tag_of(worker(space, any_thread(space)).id);
    const slots::Slot found = {tag.offset_mb, tag.size_mb};
    bool right = tag.pinned == (s.tag != Tag::automatic);
    switch (s.tag) {
    case Tag::large: right = right && !found.size_mb; break;
    case Tag::slot: right = right && found == s.slot && !tag.bound; break;
    case Tag::bound:
        right = right && ((found == s.slot && tag.bound) || (!found.size_mb && !s.leader));
        if (!found.size_mb) s.tag = Tag::large, s.slot = {};
        break;
    case Tag::automatic: right = right && (!found.size_mb || found.size_mb << mb_log2 >= extent(space)); break;
    }
    if (!right)
        fail("space %u has %u MB at %u MB, %s%s; it should have %u MB at %u MB (%u), or %x", space, found.size_mb,
             found.offset_mb, tag.bound ? "bound" : "not bound", tag.pinned ? ", asked for" : "", s.slot.size_mb,
             s.slot.offset_mb, static_cast<Word>(s.tag), extent(space));
    return found;
}

/// Notes what was asked for, and counts the kind of change.
void Family::became(Word space, Tag tag, slots::Slot before, slots::Slot now)
{
    Space &s = spaces_[space];
    s.tag = tag;
    s.slot = tag == Tag::automatic ? slots::Slot{} : now;
    s.leader = nullptr;
    if (!before.size_mb && now.size_mb) count[demotions]++;
    if (before.size_mb && !now.size_mb) count[made_large]++;
    if (before.size_mb && now.size_mb && before.size_mb != now.size_mb) {
        count[resizes]++;
        if (before.offset_mb == now.offset_mb && before.size_mb < now.size_mb) count[grown_in_place]++;
    }
    if (tag == Tag::slot && !(before == now)) {
        count[made_small]++;
        if (slots::move_in(now, s.incarnation)) count[slot_reuses]++;
    }
}

/// Moves a space to a slot by its name, or out of one; false if the kernel does not.
bool Family::move(Word space, Word wanted)
{
    const slots::Slot before = check_tag(space);
    const bool asked = spaces_[space].tag != Tag::automatic;
    const Word name = asked ? slots::name_of(before) : 0; // a program cannot tell by it what the kernel has chosen
    Word control = 0;
    L4_SpaceControl(worker(space, any_thread(space)).id, L4_SmallSpaceChange | wanted, L4_Nilpage, L4_Nilpage,
                    L4_nilthread, &control);
    const Word found = control & 0xFF;
    if (found != name && !(found == 0 && spaces_[space].tag == Tag::bound && !spaces_[space].leader))
        fail("space %u was at slot %02x, not %02x", space, found, name);
    if (!(control & L4_SmallSpaceChange)) return false;
    const Word lowest = wanted & -wanted;
    const slots::Slot now = {(wanted & ~lowest) * 2, lowest * 4};
    if (wanted) dissolve(space);
    became(space, wanted ? Tag::slot : Tag::large, before, now);
    check_tag(space);
    return true;
}

/// The same for a slot by its size alone, from 1 MB.
bool Family::give_slot(Word space, Word log2_mb)
{
    const slots::Slot before = check_tag(space);
    const bool given = cobnut::give_slot(worker(space, any_thread(space)).id, log2_mb);
    dissolve(space); // first of all, even if there is no such slot
    if (!given) return false;
    const cobnut::Tag tag = cobnut::tag_of(worker(space, any_thread(space)).id);
    if (tag.size_mb != 1u << log2_mb) fail("space %u has a slot of %u MB, not 2^%u", space, tag.size_mb, log2_mb);
    became(space, Tag::slot, before, {tag.offset_mb, tag.size_mb});
    check_tag(space);
    return true;
}

/// The kernel decides again: at once, if a slot is free that holds the space.
bool Family::leave_to_kernel(Word space)
{
    // In a shorter one than it needs it would stay until it goes beyond, which only a processor notices.
    if (spaces_[space].small() && spaces_[space].slot.size_mb << mb_log2 < extent(space) && !move(space, 0))
        return false;
    const slots::Slot before = check_tag(space);
    if (!cobnut::leave_to_kernel(worker(space, any_thread(space)).id))
        fail("space %u cannot be left to the kernel", space);
    for (Space &s : spaces_)
        if (s.leader == &spaces_[space]) s.leader = nullptr;
    spaces_[space].tag = Tag::automatic;
    became(space, Tag::automatic, before, check_tag(space));
    return true;
}

/// One that is in a slot that was asked for; if there is none, any.
Word Family::any_small()
{
    Word space = random_.below(spaces);
    for (Word tries = 0; tries < spaces && !spaces_[space].small(); tries++) space = (space + 1) % spaces;
    return space;
}

/// Lets a space run on the page directories of others.
void Family::spread_copies(Word space)
{
    for (Word other = 0; other < spaces; other++)
        if (other != space && spaces_[other].alive() && spaces_[other].tag == Tag::large &&
            ask(other, any_thread(other), any_call(), worker(space, any_thread(space)).id.raw))
            fail("a call failed");
    ask(space, any_thread(space), nothing);
}

/// A large space calls another one, which calls this: it comes into force on a page directory that no other space has
/// just entered.
void Family::call_through(Word space)
{
    Word large[2], found = 0;
    for (Word s = any_space_but(space), i = 0; i < spaces && found < 2; i++, s = (s + 1) % spaces)
        if (s != space && spaces_[s].alive() && spaces_[s].tag == Tag::large) large[found++] = s;
    if (found == 2 && ask(large[0], any_thread(large[0]), do_reflect, worker(large[1], any_thread(large[1])).id.raw,
                          worker(space, any_thread(space)).id.raw))
        fail("a call failed");
}

/// An access of a space where another one has a page, or where it has one itself.
void Family::access_present(Word space, Word other)
{
    const Word first = random_.below(places);
    for (Word i = 0; i < places; i++) {
        const Word place = (first + i) % places;
        if (!model_.present(node_of(other, place)) || !reachable(space, place)) continue;
        return access(node_of(space, place), random_.once_in(2));
    }
    ask(space, any_thread(space), nothing);
}

/// A large space becomes small, if there is room: in one of three ways.
void Family::demote()
{
    Word space = random_.below(spaces);
    for (Word tries = 0; tries < spaces - 1 && spaces_[space].small(); tries++) space = (space + 1) % spaces;
    if (!spaces_[space].alive()) return;
    if (check_tag(space).size_mb && random_.once_in(2)) move(space, 0);
    switch (random_.below(4)) {
    case 0: give_slot(space, random_.below(6)); break;
    case 1: leave_to_kernel(space); break;
    default: move(space, any_name(random_));
    }
    access_present(space, space);
}

/// From slot to slot, also to one at the same place and to one that is too short for what the space has.
void Family::resize()
{
    const Word space = any_small();
    if (!spaces_[space].alive()) return;
    for (Word i = 0; i < 4; i++) {
        if (random_.once_in(4)) move(space, any_name(random_));
        else give_slot(space, random_.below(random_.once_in(8) ? 9 : 6));
        access_present(space, space);
    }
}

void Family::lose_beyond_1_mb(Word space)
{
    for (Word place = 0; place < places; place++) {
        const Node node = node_of(space, place);
        if (model_.present(node) && place_address(place) >= 1u << mb_log2) take_away(node);
    }
}

/// A space of the kernel's choice loses what it has beyond 1 MB, and gets it again, page by page.
void Family::grow()
{
    const Word space = random_.below(spaces);
    if (!spaces_[space].alive()) return;
    lose_beyond_1_mb(space);
    if (!move(space, 0) || !leave_to_kernel(space)) return;
    slots::Slot before = check_tag(space);
    for (Word place = 0; place < places; place++) {
        if (before.size_mb && place_address(place) < before.size_mb << mb_log2) continue;
        give(random_.below(pages), node_of(space, place), read | write);
        const slots::Slot now = check_tag(space);
        became(space, Tag::automatic, before, now);
        before = now;
        access(node_of(space, place), random_.once_in(2));
    }
}

/// One space follows another in its slot, and runs there at once: on the same page directory, or on one that has a copy
/// of its predecessor's entry and comes into force by its own call.
void Family::succeed()
{
    const Word space = any_small(), next = any_space_but(space);
    if (spaces_[space].tag != Tag::slot || !spaces_[next].alive()) return;
    const slots::Slot slot = spaces_[space].slot;
    const Word name = slots::name_of(slot);
    Word log2_mb = 0;
    while (1u << log2_mb < slot.size_mb) log2_mb++;
    Word host = any_space_but(space);
    for (Word tries = 0; tries < spaces && (host == space || host == next || spaces_[host].tag != Tag::large); tries++)
        host = (host + 1) % spaces;
    const bool has_host = spaces_[host].alive() && host != next && spaces_[host].tag == Tag::large;
    if (has_host && ask(host, any_thread(host), do_send, worker(space, any_thread(space)).id.raw))
        fail("a call failed");
    access_present(space, space);
    if (!move(space, 0) || !(name ? move(next, name) : give_slot(next, log2_mb))) return;
    if (has_host && random_.once_in(2) &&
        ask(next, any_thread(next), any_call(), worker(host, any_thread(host)).id.raw))
        fail("a call failed");
    access_present(next, space);
}

/// Spaces ask for the places of those that have them by the kernel's choice.
void Family::revoke()
{
    for (Word i = 0; i < spaces; i++) revoke(random_.below(spaces));
}

/// Copies of the slot may stand in several hosts. Both spaces run at once.
void Family::revoke(Word space)
{
    const Word next = any_space_but(space);
    if (!spaces_[space].alive() || !spaces_[next].alive()) return;
    if (spaces_[space].tag != Tag::automatic && !leave_to_kernel(space)) return;
    if (random_.once_in(2)) spread_copies(space);
    else access_present(space, space);
    const cobnut::Tag tag = cobnut::tag_of(worker(space, any_thread(space)).id);
    const Word size = tag.size_mb < slots::granule_mb ? slots::granule_mb : tag.size_mb;
    if (!tag.size_mb || tag.offset_mb + size > 512) return; // has no name
    if (!move(next, L4_SmallSpace(tag.offset_mb & -size, size))) return;
    const slots::Slot now = check_tag(space);
    if (now.overlaps(spaces_[next].slot)) fail("space %u keeps its place at %u MB", space, now.offset_mb);
    if (!tag.bound) count[revocations]++;
    if (random_.once_in(2)) call_through(next);
    access_present(next, space);
    access_present(space, space);
}

/// Binds a space to the page directory of one after the other, and lets both run. Then the last leader may go, or
/// become small. Bound slots of different groups begin at the same places.
void Family::regroup()
{
    const Word space = random_.below(spaces);
    Word leader = space;
    if (!spaces_[space].alive()) return;
    for (Word i = 0; i < spaces - 1; i++) {
        const Word next = (space + 1 + i) % spaces;
        if (!spaces_[next].alive() || random_.once_in(4)) continue;
        if (spaces_[next].tag != Tag::large && !random_.once_in(4)) move(next, 0);
        if (!bind(space, next)) continue;
        leader = next;
        if (ask(leader, any_thread(leader), do_send, worker(space, any_thread(space)).id.raw)) fail("a call failed");
        access_present(space, space);
    }
    if (leader == space) return;
    switch (random_.below(8)) {
    case 0: delete_space(leader); break;
    case 1: give_slot(leader, random_.below(4)); break;
    case 2: leave_to_kernel(leader); break;
    default: return;
    }
    check_tag(space);
    access_present(space, space);
}

/// A leader that has asked to be large stays one. Another may have a slot of its own, or be bound itself; if not, the
/// kernel can make it small at any time.
bool Family::bind(Word space, Word leader)
{
    Space &s = spaces_[space];
    const slots::Slot before = check_tag(space);
    const bool stays = spaces_[leader].tag == Tag::large;
    const bool other = s.tag != Tag::bound || (s.leader && s.leader != &spaces_[leader]);
    const bool bound = cobnut::bind(worker(space, any_thread(space)).id, worker(leader, any_thread(leader)).id);
    dissolve(space); // first of all, even if it has to stay as it is
    if (!bound) return false;
    const cobnut::Tag tag = cobnut::tag_of(worker(space, any_thread(space)).id);
    if (!tag.pinned || (stays && !tag.bound) || (tag.bound && tag.size_mb << mb_log2 < extent(space)))
        fail("space %u was bound to space %u, to a slot of %u MB at %u MB", space, leader, tag.size_mb, tag.offset_mb);
    became(space, tag.bound ? Tag::bound : Tag::large, before, {tag.offset_mb, tag.size_mb});
    if (!stays) return true;
    s.leader = &spaces_[leader];
    if (other) count[regroups]++;
    return true;
}

/// Small spaces get, or touch, what lies beyond their slots; sometimes after they have run on many page directories.
void Family::promote()
{
    for (Word i = 0; i < 2; i++) {
        const Word space = any_small();
        if (!spaces_[space].alive() || (!spaces_[space].small() && !give_slot(space, random_.below(4)))) continue;
        promote(space);
    }
}

void Family::promote(Word space)
{
    const Word size = spaces_[space].slot.size_mb << mb_log2;
    if (random_.once_in(4)) spread_copies(space);
    Word place = random_.below(places);
    for (Word tries = 0; tries < places && place_address(place) < size; tries++) place = (place + 1) % places;
    if (random_.once_in(2) || place_address(place) < size) return reach_beyond(space);
    give(random_.below(pages), node_of(space, place), read);
}

/// An emulator that does not enforce limits shows what is mapped there. Behind the area for small spaces that is the
/// kernel, on every emulator a fault.
void Family::reach_beyond(Word space)
{
    constexpr Word first_page = 5; // there is no place at such an address
    const Word beyond = (first_page + random_.below(4)) * page_size;
    const Word address = ((area_mb_ - spaces_[space].slot.offset_mb) << mb_log2) + beyond;
    const Word thread = any_thread(space);
    expected_ = {true, false, nowhere, space, thread, address, false, false};
    const Word result = ask(space, thread, do_read, address);
    if (!expected_.happened) fail("space %u reads %08x at %08x, beyond its slot", space, result, address);
    const Node given = expected_.node;
    expected_ = {};
    if (result != value_[model_.page(given)]) fail("space %u reads %08x at %08x", space, result, address);
    model_.accessed(given, false);
    const L4_Fpage_t page = page_at(page_address(index_, model_.page(given)), all);
    const Word status = L4_UnmapFpage(page).raw & all;
    const Status wanted = model_.unmap(given, all, false);
    if (status != wanted) fail("a page has status %u, not %u", status, wanted.must);
    count[unmaps]++;
}

void Family::query()
{
    const Word space = random_.below(spaces);
    if (!spaces_[space].alive()) return;
    const slots::Slot slot = check_tag(space);
    const Space &s = spaces_[space];
    if (s.tag == Tag::bound && !s.leader) return;
    Word control = 0;
    L4_SpaceControl(worker(space, any_thread(space)).id, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &control);
    const Word name = s.tag == Tag::automatic ? 0 : slots::name_of(slot);
    if ((control & 0xFF) != name) fail("space %u is at slot %02x, not %02x", space, control & 0xFF, name);
}

} // namespace stress
