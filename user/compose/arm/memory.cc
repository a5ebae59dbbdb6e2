// SPDX-License-Identifier: BSD-2-Clause
// Steps about the controller's megabytes: which space gets what of them, what is done with it, and how it goes away.
#include "oracle.h"
#include "steps.h"

#include <cobnut/control.h>
#include <l4/misc.h>

namespace compose {
namespace {

constexpr Word flush = 0x40, unmap_number = 0x14, ipc_number = 0x00, zero_send = 0x04000000, grant_bit = 2;
constexpr Word sizes[] = {page_log2, page_log2, large_log2, large_log2, mega_log2, mega_log2};

/// A page of a size, or what there is of it: the spots in it, and where it begins.
struct Piece {
    Word log2, first, count;

    Word offset() const { return spot_offset(first) & ~((1u << log2) - 1); }
};
Piece piece(Word log2, Word spot)
{
    if (log2 == page_log2) return {log2, spot, 1};
    if (log2 == large_log2) return {log2, spot / part_count * part_count, part_count};
    return {log2, 0, spots};
}
L4_Fpage_t fpage(Word base, const Piece &p, Word rights)
{
    return L4_FpageLog2(base + p.offset(), static_cast<int>(p.log2)) + rights;
}

Word any_thread(const Step &step) { return keeper_of(step.space) + step.thread; }
Word another(const Step &step, Digits &x) { return (step.space + 1 + x.below(attackers - 1)) % attackers; }
Word random_rights(Digits &x) { return x.below(4) ? L4_Readable | L4_Writable : L4_Readable; }

/// A place of the space that permits the access, if there is one.
Word place_that(Word s, Word start, bool writes)
{
    for (Word i = 0; i < places; i++)
        if (const Word place = (start + i) % places; memory.permits(Model::node_of(s, place), writes)) return place;
    return places;
}

void give(Word s, Word g, Word m, const Piece &from, Word region, const Piece &to, Word rights)
{
    for (Word i = 0; i < from.count; i++)
        memory.map(Model::root_of(m * spots + from.first + i), Model::node_of(s, region * spots + to.first + i), rights,
                   false);
    send_items(g, L4_MapItem(fpage(megabyte_address(m), from, rights), regions[region] + to.offset()));
}

/// From one attacker to another, who says so.
void hand_over(const Step &step, bool grants)
{
    Digits x(step.x), y(step.y);
    const Word to = another(step, x), log2 = sizes[x.below(6)], rights = random_rights(x);
    if (!alive(to)) return;
    const Piece source = piece(log2, y.below(spots)), target = piece(log2, y.below(spots));
    const Word region = y.below(region_count), there = y.below(3) ? region : y.below(region_count);
    for (Word i = 0; i < source.count; i++)
        memory.map(Model::node_of(step.space, region * spots + source.first + i),
                   Model::node_of(to, there * spots + target.first + i), rights, grants);
    const L4_MapItem_t item = L4_MapItem(fpage(regions[region], source, rights), regions[there] + target.offset());
    const Word receiver = keeper_of(to) + x.below(threads_each);
    expect(receiver);
    call(any_thread(step), ipc_number,
         {agent[receiver].id.raw, 0, zero_send, 2u << 6, item.raw[0] | (grants ? grant_bit : 0), item.raw[1], 0, 0});
}

/// Both words, the first of which `g` writes.
void wrote(Word s, Word place, Word which, Word word) { value[memory.page(Model::node_of(s, place))][which] = word; }

Word word_of(const Step &step, Word n) { return 0x22000000 | (step.x & 0xFFFF) << 8 | (step.y & 0xF0) | n; }

} // namespace

void map(const Step &step)
{
    Digits x(step.x), y(step.y);
    const Word m = x.below(megabytes), log2 = sizes[x.below(6)], region = x.below(region_count),
               rights = random_rights(x);
    const Piece source = piece(log2, y.below(spots)), target = y.below(2) ? source : piece(log2, y.below(spots));
    give(step.space, any_thread(step), m, source, region, target, rights);
    // Often another space has the same, at the same place or elsewhere.
    const Word twin = another(step, x);
    if (y.below(2) && alive(twin) && !wrong)
        give(twin, keeper_of(twin), m, source, y.below(2) ? region : y.below(region_count), target, rights);
}
void pass(const Step &step) { hand_over(step, false); }
void grant(const Step &step) { hand_over(step, true); }

void unmap(const Step &step)
{
    Digits x(step.x), y(step.y);
    const Word m = x.below(megabytes);
    const Piece what = piece(sizes[x.below(6)], y.below(spots));
    const Word rights = x.below(3) ? L4_FullyAccessible : L4_Writable;
    for (Word i = 0; i < what.count; i++) memory.unmap(Model::root_of(m * spots + what.first + i), rights, false);
    L4_UnmapFpage(fpage(megabyte_address(m), what, rights));
}

void unmap_own(const Step &step)
{
    Digits x(step.x), y(step.y);
    const Word region = x.below(region_count), flushes = x.below(2);
    const Piece what = piece(sizes[x.below(6)], y.below(spots));
    const Word rights = x.below(3) ? L4_FullyAccessible : L4_Writable;
    for (Word i = 0; i < what.count; i++)
        memory.unmap(Model::node_of(step.space, region * spots + what.first + i), rights, flushes);
    const Word raw = fpage(regions[region], what, rights).raw;
    if (!y.below(2)) {
        call(any_thread(step), unmap_number, {flushes ? flush : 0, 0, 0, raw, 0, 0, 0, 0});
        return;
    }
    // the same by the controller
    const L4_ThreadId_t id = agent[keeper_of(step.space)].id;
    L4_SpaceControl(id, 0, L4_Nilpage, L4_Nilpage, L4_Myself(), nullptr);
    cobnut::set_controlled(id, true);
    L4_LoadMR(0, raw);
    if (cobnut::unmap_in(id, flushes ? flush : 0)) fail("an Unmap in a controlled space");
    cobnut::set_controlled(id, false); // or its threads reach no other
    L4_SpaceControl(id, 0, L4_Nilpage, L4_Nilpage, L4_anythread, nullptr);
}

void attribute(const Step &step)
{
    Digits x(step.x), y(step.y);
    const Word m = x.below(megabytes);
    const Piece what = piece(sizes[x.below(6)], y.below(spots));
    if (!L4_Set_PageAttribute(fpage(megabyte_address(m), what, 0), 1 + x.below(4))) fail("an attribute is refused");
}

void renew(const Step &step) { renew_megabyte(step.x % megabytes); }

void write(const Step &step)
{
    constexpr const char *kinds[] = {agent_write_word, agent_write_multiple, agent_write_translated,
                                     agent_write_swapped, agent_write_bytes};
    Digits x(step.x), y(step.y);
    const Word start = y.below(places), wanted = x.below(4) ? place_that(step.space, start, true) : start;
    const Word place = wanted == places ? start : wanted;
    const bool there = memory.permits(Model::node_of(step.space, place), true);
    if (!memory.present(Model::node_of(step.space, place)) && other_name(step.space, place_address(place))) return;
    const Word word = word_of(step, 0);
    const Answer answer = order(any_thread(step), kinds[x.below(5)], place_address(place), word);
    if (!answer.good) return;
    if (!there && !answer.faulted) fail("what is not mapped is written");
    if (there) wrote(step.space, place, 0, word);
}

void read(const Step &step) { judge_read(any_thread(step), step.x % places, step.y); }

void run(const Step &step)
{
    const Word place = place_that(step.space, step.x % places, false);
    if (place == places) return;
    const Answer answer = order(any_thread(step), agent_run, place_address(place));
    if (answer.good && answer.r5 != value[memory.page(Model::node_of(step.space, place))][0])
        fail("code does not give what was written last");
}

/// One instruction with two words: the last one of a megabyte, and the first one of the next: where relocation ends, or
/// farther up.
void across(const Step &step)
{
    Digits x(step.x);
    const Word region = x.below(2) ? 1 : 4, last = (region + 1) * spots - 1, next = (region + 1) * spots;
    const Word s = step.space, where[] = {last, next};
    const bool writes = x.below(2);
    bool there[2];
    for (Word i = 0; i < 2; i++) {
        const Node node = Model::node_of(s, where[i]);
        there[i] = memory.permits(node, writes);
        if (!memory.present(node) && other_name(s, place_address(where[i]))) return;
    }
    const Word words[] = {word_of(step, 1), word_of(step, 2)};
    const Word pages_of[] = {memory.page(Model::node_of(s, last)), memory.page(Model::node_of(s, next))};
    more(&words[1], 1);
    const Answer answer = order(any_thread(step), writes ? agent_write_across : agent_read_across,
                                regions[region + 1] - sizeof(Word), words[0]);
    if (!answer.good) return;
    if (!(there[0] && there[1]) && !answer.faulted) fail("what is not mapped is reached from its neighbour");
    const Word found[] = {answer.r5, answer.r6};
    for (Word i = 0; i < 2; i++) {
        if (there[i] && writes) value[pages_of[i]][i == 0] = words[i];
        if (!writes && found[i] != (there[i] ? value[pages_of[i]][i == 0] : spare_word))
            fail("two words of two pages are not what was written last");
    }
}

void string(const Step &step)
{
    constexpr Word bytes = 64, simple = bytes << 10, error = 0x8000;
    Digits x(step.x), y(step.y);
    const Word to = another(step, x), from_place = place_that(step.space, y.below(places), false),
               to_place = alive(to) ? place_that(to, y.below(places), true) : places;
    if (from_place == places || to_place == places) return;
    const Word receiver = keeper_of(to) + x.below(threads_each),
               word = value[memory.page(Model::node_of(step.space, from_place))][0];
    order(receiver, agent_accept, simple, place_address(to_place));
    if (wrong) return;
    expect(receiver);
    const Answer answer =
        call(any_thread(step), ipc_number,
             {agent[receiver].id.raw, 0, zero_send, 2u << 6, simple, place_address(from_place), 0, 0});
    if (answer.good && answer.r4 & error) fail("a string is not sent");
    wrote(to, to_place, 0, word);
}

/// Two attackers call each other, by the short way, the one writing and the other reading.
void talk(const Step &step)
{
    Digits x(step.x), y(step.y);
    const Word to = another(step, x), rounds = 1 + x.below(12);
    if (!alive(to)) return;
    const Word own = place_that(step.space, y.below(places), true), its = place_that(to, y.below(places), false);
    const Word peer = keeper_of(to) + x.below(threads_each), word = word_of(step, 3);
    const Word words[] = {agent[peer].id.raw, its == places ? space[to].code : place_address(its), rounds,
                          own == places ? 0 : place_address(own), word};
    more(words, 5);
    const Answer answer = order(any_thread(step), agent_ask);
    if (!answer.good) return;
    if (own < places) wrote(step.space, own, 0, word);
    const Word wanted =
        its == places ? *reinterpret_cast<const Word *>(agent_begin) : value[memory.page(Model::node_of(to, its))][0];
    if (answer.r5 != wanted) fail("a partner reads what was not written last");
}

/// A space leaves its slot to another one, which has the same page at the same place, and both go on with it.
void heir(const Step &step)
{
    Digits x(step.x), y(step.y);
    const Word to = another(step, x), m = x.below(megabytes), place = y.below(2 * spots), region = place / spots;
    const Word left = 20 + x.below(2), rights = L4_Readable | L4_Writable;
    if (!alive(to) || !move_to(to, 30) || !move_to(step.space, left)) return;
    const Piece page = piece(page_log2, place % spots);
    give(step.space, any_thread(step), m, page, region, page, rights);
    if (!wrong) give(to, keeper_of(to), m, page, region, page, rights);
    const auto writes = [&](Word s, Word n) {
        const Word word = word_of(step, n);
        if (wrong || !memory.permits(Model::node_of(s, place), true)) return;
        if (order(keeper_of(s), agent_write_word, place_address(place), word).good) wrote(s, place, 0, word);
    };
    writes(step.space, 4);
    if (!move_to(step.space, left + 2) || !move_to(to, left)) return;
    writes(to, 5);
    if (y.below(2)) writes(step.space, 6);
    if (!wrong) judge_read(keeper_of(step.space), place, x.below(4));
    if (!wrong) judge_read(keeper_of(to), place, x.below(4));
}

} // namespace compose
