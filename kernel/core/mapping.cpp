// SPDX-License-Identifier: BSD-2-Clause
#include "core/mapping.hpp"

#include "core/check.hpp"
#include "core/large_pages.hpp"
#include "core/mapping_tree.hpp"
#include "core/memory.hpp"
#include "core/space.hpp"

namespace mappings {
namespace {

// A range without pages is searched in one go; at most of this size, and this cost in mappings.
constexpr VAddr stretch = (VAddr{1} << paging::table_log2) - 1;
constexpr Word stretch_cost = between_points;
// The cost of visiting a page, without those derived from it; and of mapping it.
constexpr Word page_cost = 2, map_cost = 8, plain_cost = several_sizes ? map_cost : 1;
// What has to be left of a budget for a page table that may be the first in the space's slot.
constexpr Word move_cost = between_points / 4;
// The additional cost of a large page.
Word large_cost(unsigned log2) {
    if constexpr (several_sizes) return (1u << (log2 - page_log2)) / 4;
    return 0;
}

// Skips addresses without page tables, charged as visits: the next address up to `last` that may have pages; last + 1
// if there is none.
VAddr skip_unmapped(const Space& space, VAddr from, VAddr last, Word& budget) {
    VAddr next = paging::skip_unmapped(space, from, last);
    steps += (next - from) >> paging::table_log2;
    if (next != from) pay(budget, 0);
    return next;
}

bool sigma0_may_have(const Space& sigma0, VAddr page) {
    return page < paging::user_limit() && !paging::kernel_frame(page) && !spaces::kernel_area(sigma0, page, page);
}

// Removes what is mapped at a target, in the size noted at first, even if the source has changed between two parts.
Mapped clear_target(Space& to, VAddr target, unsigned& clearing, Word& budget) {
    if (!clearing) return Mapped::all;
    Mapped fitted = fit(to, target, clearing, budget);
    if (fitted != Mapped::all) return fitted;
    Mapping* old = paging::node(to, target);
    if (old && !remove_below(*old, budget)) return Mapped::part;
    if (old) {
        Word cost = cost_of(*old);
        if (!affords(budget, cost)) return Mapped::part;
        remove(*old);
        if constexpr (several_sizes) pay(budget, cost - 1);
    }
    clearing = 0;
    return Mapped::all;
}

// The common case, small pages to vacant addresses: maps as many as there are from `source` up to `last` within a row,
// and charges them. Returns how many; the next page is of another kind, or the budget is used up.
Word map_row(Space& from, VAddr source, VAddr last, Space& to, VAddr target, Word rights, Word& budget) {
    auto left_in_row = [](VAddr page) { return paging::row_bytes - page % paging::row_bytes; };
    Word n = last - source + 1;
    if (n > left_in_row(source)) n = left_in_row(source);
    if (n > left_in_row(target)) n = left_in_row(target);
    n >>= page_log2;
    if (n > budget) n = budget;
    VAddr target_last = target + (n << page_log2) - 1;
    if (!(rights & rights_all) || target_last >= paging::user_limit() || spaces::kernel_area(to, target, target_last))
        return 0;
    paging::Row source_row, target_row;
    if (!paging::row(from, source, false, source_row) || !paging::row(to, target, rights & right_write, target_row) ||
        !to.account.charge(n * sizeof(Mapping)))
        return 0;
    Word done = 0;
    for (; done < n; ++done, target += page_size, source_row.next(), target_row.next()) {
        Mapping* m = source_row.node();
        if (!m || !target_row.vacant()) break;
        if constexpr (several_sizes) {
            unsigned log2 = log2_of(from, m->page());
            if (!budget || log2 != page_log2 || make_room(from, m->page(), log2, budget) != Mapped::all) break;
            m = source_row.node();
            pay(budget, plain_cost);
        }
        m = insert_paid(*m, to, target);
        if (!m) break;
        target_row.derive(source_row, m);
    }
    to.account.credit((n - done) * sizeof(Mapping));
    if constexpr (!several_sizes) spend(budget, done * plain_cost);
    return done;
}

// On return `log2` is the size that was transferred.
Mapped transfer_page(Space& from, VAddr source, Space& to, VAddr target, unsigned& log2, Word rights, bool grant,
    Progress& progress, Word& budget) {
    if (!(rights & rights_all) || target >= paging::user_limit()) return Mapped::all;
    if (from.idempotent && !paging::get(from, source).present && sigma0_may_have(from, source) &&
        !materialise(from, source, log2))
        return Mapped::no_memory;
    if (grant) {
        Mapped fitted = fit(from, source, log2, budget);
        if (fitted != Mapped::all) return fitted;
    }
    Mapping* m = paging::node(from, source);
    if (!m || spaces::kernel_area(to, target, target)) return Mapped::all;
    // A page without a node is the kernel's: a UTCB of an area that has been moved.
    const paging::Page there = paging::get(to, target);
    const Mapping* old = paging::node(to, target);
    if (there.present && !old) return Mapped::all;

    paging::Page page = paging::get(from, source);
    bool writable = page.writable && rights & right_write;
    if (old) {
        if (!grant && there.frame == page.frame && old->parent == m) {
            if (!writable || there.writable) return Mapped::all;
            Mapped fitted = fit(to, target, log2, budget);
            if (fitted != Mapped::all) return fitted;
            paging::allow_write(to, target);
            return Mapped::all;
        }
        progress.clearing = log2;
        Mapped cleared = clear_target(to, target, progress.clearing, budget);
        if (cleared != Mapped::all) return cleared;
        // The source may have been derived from what was just removed, or have been split with it.
        m = paging::node(from, source);
        if (!m) return Mapped::all;
        if (!affords(budget, large_cost(log2))) return Mapped::part;
    }
    if (!grant) {
        Mapped made = make_room(from, source, log2, budget);
        if (made != Mapped::all) return made;
        m = paging::node(from, source);
    }
    // A table may move the space to another slot (ARM): that takes as long as some mappings, and a large page comes
    // after a point.
    paging::Row row;
    const bool needs_table = several_sizes && !paging::row(to, target, false, row);
    if (needs_table && !affords(budget, move_cost)) return Mapped::part;
    Word unused = memory::pages_unused();
    if (!paging::ensure_table(to, target)) return Mapped::no_memory;
    steps += (unused - memory::pages_unused()) * table_steps;
    if (needs_table && log2 != page_log2) return budget = 0, Mapped::part;
    if (grant) {
        if (!to.account.charge(sizeof(Mapping))) return Mapped::no_memory;
        from.account.credit(sizeof(Mapping));
        // The target replaces the source in the tree; what was derived from it stays.
        note_status(*m, paging::clear(from, source));
        paging::mapping(from, source) = nullptr;
        move(*m, to, target);
    } else {
        if (!to.account.charge(sizeof(Mapping))) return Mapped::no_memory;
        m = insert_paid(*m, to, target);
        if (!m) return to.account.credit(sizeof(Mapping)), Mapped::no_memory;
    }
    check(!((source | target | page.frame) & ((1u << log2) - 1)));
    check(target < paging::user_limit() && !spaces::kernel_area(to, target, target));
    check(!paging::get(to, target).present && !paging::kernel_frame(page.frame));
    paging::set(to, target, page.frame, writable, page.attribute, log2);
    paging::mapping(to, target) = m;
    VAddr end = target + (1u << log2);
    if (end > progress.end) progress.end = end;
    return Mapped::all;
}

// Manual 5.2: the send base picks the part of the larger of the two fpages.
Range match(Fpage send, Fpage window, Word base) {
    unsigned s = send.log2(), w = window.log2();
    auto below = [](Word value, unsigned log2) { return log2 >= 32 ? value : value & ((1u << log2) - 1); };
    auto aligned = [](Word value, unsigned log2) { return log2 >= 32 ? 0 : value & ~((1u << log2) - 1); };
    if (s <= w) return {send.base(), window.base() + aligned(below(base, w), s), s};
    return {send.base() + aligned(below(base, s), w), window.base(), w};
}

}  // namespace

Mapped transfer(Space& from, Fpage send, Space& to, Fpage window, Word base, bool grant, Progress& progress,
    Word& budget) {
    if (send.is_nil() || window.is_nil() || &from == &to) return Mapped::all;
    return transfer(from, match(send, window, base), to, send.rights(), grant, progress, budget);
}

Mapped transfer(Space& from, const Range& r, Space& to, Word rights, bool grant, Progress& progress, Word& budget) {
    VAddr last = r.source + (r.log2 >= 32 ? ~Word{0} : (1u << r.log2) - 1);
    if (last >= paging::user_limit()) last = paging::user_limit() - 1;
    Word& done = progress.done;
    for (VAddr page; (page = r.source + done) <= last;) {
        if (!budget) return Mapped::part;
        if (!grant && !progress.clearing) {
            if (Word mapped = map_row(from, page, last, to, r.target + done, rights, budget) << page_log2) {
                done += mapped;
                if (r.target + done > progress.end) progress.end = r.target + done;
                continue;
            }
        }
        // Sigma0 owns every page, also where it has no page table yet.
        if (!from.idempotent && !progress.clearing) {
            page = skip_unmapped(from, page, last, budget);
            done = page - r.source;
            if (page > last || !budget) continue;
            VAddr end = (page | stretch) < last ? page | stretch : last;
            if (!paging::next_mapped(from, page, end)) {
                done = end + 1 - r.source;
                spend(budget, stretch_cost);
                continue;
            }
        }
        if (page != r.source + done) {
            steps += (page - r.source - done) >> page_log2;
            done = page - r.source;
            pay(budget, 0);
            continue;
        }
        VAddr target = r.target + done;
        Mapped mapped = clear_target(to, target, progress.clearing, budget);
        if (mapped != Mapped::all) return mapped;
        unsigned log2 = largest(from, page, to, target, last);
        if (!affords(budget, large_cost(log2))) return Mapped::part;
        mapped = transfer_page(from, page, to, target, log2, rights, grant, progress, budget);
        if (mapped != Mapped::all) return mapped;
        done += 1u << log2;
        pay(budget, map_cost + large_cost(log2));
    }
    return Mapped::all;
}

Word as_rights(Word status) {
    return (status & paging::accessed ? Word{right_read | right_execute} : 0) |
           (status & paging::dirty ? Word{right_write} : 0);
}

bool unmap(Space& space, Fpage fpage, bool flush, VAddr& at, Word& status, Sweep& sweep, Word& budget) {
    bool everything = fpage.rights() == rights_all, write = fpage.rights() & right_write;
    VAddr last = fpage.last() < paging::user_limit() ? fpage.last() : paging::user_limit() - 1;
    [[maybe_unused]] const VAddr first = at;
    // Sigma0 owns pages before it has touched them, and gives a device's their attribute before it maps them.
    bool makes = sweep.sets_attribute && space.idempotent && last - fpage.base() < 4u << 20;
    while (at <= last && budget) {
        if (makes && !paging::get(space, at).present) {
            pay(budget, map_cost);
            if (!materialise(space, at, largest_of_sigma0(space, at, last))) at += page_size;
            continue;
        }
        VAddr page = at;
        // Mostly the next page is there as well.
        if (!paging::node(space, at)) {
            at = page = skip_unmapped(space, at, last, budget);
            if (at > last || !budget) continue;
            VAddr end = (at | stretch) < last ? at | stretch : last;
            if (!paging::next_mapped(space, page, end)) {
                at = end + 1;
                spend(budget, stretch_cost);
                continue;
            }
            if (page != at) {
                steps += (page - at) >> page_log2;
                at = page;
                pay(budget, 0);
                if (!budget) continue;
            }
        }
        if constexpr (several_sizes)
            if (page != first) sweep.had_itself = false;
        if (fit(space, page, fpage.log2(), budget) == Mapped::part) return false;
        VAddr next = behind(space, page);
        Word cost = page_cost;
        if (Mapping* m = paging::node(space, page)) {
            Word its = cost_of(*m);
            if (!affords(budget, its)) return false;
            cost += its;
            // The page itself first: during the rest of the walk no other space can get the rights that are being
            // taken.
            bool had_itself = several_sizes && sweep.had_itself;
            if constexpr (several_sizes) sweep.had_itself = false;
            if ((!everything || !flush) && !had_itself) {
                Word own = visit(*m, write && flush, sweep);
                note_status(*m, own);
                if (several_sizes && (own || sweep.sets_attribute) && its > 1) {
                    pay(budget, its);
                    if (!budget) return sweep.had_itself = true, false;
                }
            }
            sweep.space = &space, sweep.page = &at, sweep.status = &status, sweep.no_write = write;
            if (everything ? !remove_below(*m, budget) : !sweep_below(*m, sweep, budget)) return false;
            if (everything && flush && !affords(budget, its)) return false;
            end_visit(*m, sweep);
            if (everything && flush) status |= remove(*m);
        }
        at = next;
        pay(budget, cost);
    }
    // The page that the note belongs to is gone, and those behind it may be.
    if constexpr (several_sizes) sweep.had_itself = false;
    return at > last;
}

bool materialise(Space& sigma0, VAddr page, unsigned log2) {
    page &= ~page_mask;
    if (!sigma0_may_have(sigma0, page) || !paging::ensure_table(sigma0, page)) return false;
    Mapping* m = insert_root(sigma0, page);
    if (!m) return false;
    paging::set(sigma0, page, page, true, 0, log2);
    paging::mapping(sigma0, page) = m;
    return true;
}

bool consistent(Space& space, Word& count) {
    for (VAddr page = 0; paging::next_mapped(space, page, paging::user_limit() - 1); page = behind(space, page)) {
        Mapping* m = paging::node(space, page);
        count += 1;
        if (!m || m->space != &space || m->page() != page) return false;
        PAddr frame = paging::get(space, page).frame;
        const Mapping *parent = m->parent, *up = m->prev;
        if ((parent == nullptr) != (m->depth() == 0)) return false;
        while (up && up->depth() >= m->depth()) up = up->parent;
        if (up != parent) return false;
        if (parent) {
            paging::Page above = paging::get(*parent->space, parent->page());
            unsigned log2 = log2_of(*parent->space, parent->page());
            bool within = log2 >= log2_of(space, page) && frame - above.frame < 1u << log2;
            if (!above.present || !within || m->depth() != parent->depth() + 1) return false;
        }
        if (m->next && (m->next->prev != m || m->next->depth() > m->depth() + 1)) return false;
    }
    return true;
}

}  // namespace mappings
