// SPDX-License-Identifier: BSD-2-Clause
#include "core/large_pages.hpp"

#include "core/check.hpp"
#include "core/mapping_tree.hpp"

namespace mappings::large {
namespace {

// The weight of a large page and all derived from it, itself included. For the page: a mapping as large counts as
// `large_weight`, a smaller one as 1. For each part that a split makes: likewise, where one as large as the part, or
// larger, counts as `large_weight`. Neither exceeds `most_weight`.
struct Run {
    static constexpr Word most_parts = 16;
    Mapping* end;               // the first node after the run
    unsigned log2;
    PAddr frame;
    Word large;                 // number of mappings as large as the page
    Word weight;
    Word part[most_parts];      // weight of each part, without the mappings as large as the page

    // The size of the parts. If that is the smallest there is no limit to their weight.
    unsigned part_log2() const {
        const unsigned* size = paging::sizes;
        while (*size >= log2) ++size;
        return *size;
    }
    // Whether one more mapping of size `its`, of frame `of`, may be derived from it.
    bool has_room(unsigned its, PAddr of) const {
        if (weight + (its == log2 ? large_weight : 1) > most_weight) return false;
        if (part_log2() == page_log2) return true;
        Word most = most_weight - large * large_weight;
        if (its < log2) return part[(of - frame) >> part_log2()] + (its == page_log2 ? 1 : large_weight) <= most;
        for (Word weight : part)
            if (weight + large_weight > most) return false;
        return true;
    }
};

Run run_of(Mapping& m) {
    Run run{m.next, log2_of(*m.space, m.page()), frame_of(m), 1, large_weight, {}};
    unsigned part = run.part_log2();
    for (; is_below(run.end, m); run.end = run.end->next) {
        unsigned its = log2_of(*run.end->space, run.end->page());
        run.large += its == run.log2;
        run.weight += its == run.log2 ? large_weight : 1;
        if (its != run.log2 && part != page_log2)
            run.part[(frame_of(*run.end) - run.frame) >> part] += its == page_log2 ? 1 : large_weight;
        steps += 4;
    }
    return run;
}

Mapping& topmost(Mapping& m) {
    Mapping* top = &m;
    for (; top->parent; top = top->parent) ++steps;
    return *top;
}

// Splits a page, and all as large that were derived from it, into pages of the next size. In the list, each part is
// followed by the same part of the derived ones and by the smaller pages derived from it, in their old order. `owner`:
// on behalf of the owning space, whose account has to allow it. False when memory is exhausted.
bool split(Mapping& m, const Run& whole, bool owner) {
    const unsigned log2 = whole.log2, part_log2 = whole.part_log2();
    Word parts = 1u << (log2 - part_log2);
    Mapping *before = m.prev, *end = whole.end;
    // The accounts of spaces further down are overdrawn if need be: the right to split must not depend on them.
    Word bytes = (parts - 1) * sizeof(Mapping);
    if (!owner) m.space->account.overdraw(bytes);
    else if (!m.space->account.charge(bytes)) return false;
    Mapping* fresh = allocate_chain(whole.large * (parts - 1));
    if (!fresh) return m.space->account.credit(bytes), false;
    begin_again_below(m);

    struct Part {
        Mapping *first, *last;
    } run[Run::most_parts] = {};
    auto append = [&](Part& r, Mapping& n) {
        n.prev = r.last;
        (r.last ? r.last->next : r.first) = &n;
        r.last = &n;
    };
    PAddr frame = whole.frame;
    // Part `i` of a node that has been split already.
    auto part_of = [&](const Mapping& n, Word i) { return paging::mapping(*n.space, n.page() + (i << part_log2)); };
    bool split_above = false;
    for (Mapping *n = &m, *next; n != end; n = next, split_above = true) {
        next = n->next;
        if (log2_of(*n->space, n->page()) < log2) {
            Word i = (frame_of(*n) - frame) >> part_log2;
            // Only a node that begins at the beginning of the whole can have been split.
            if (!(n->parent->page() & ((1u << log2) - 1)) && frame_of(*n->parent) == frame)
                n->parent = part_of(*n->parent, i);
            append(run[i], *n);
            continue;
        }
        paging::split(*n->space, n->page(), part_log2);
        if (n != &m) n->space->account.overdraw(bytes);
        append(run[0], *n);
        for (Word i = 1; i < parts; ++i) {
            Mapping* part = fresh;
            fresh = part->next;
            part->space = n->space;
            part->parent = split_above ? part_of(*n->parent, i) : n->parent;
            part->where = n->where + (i << part_log2);
            paging::mapping(*part->space, part->page()) = part;
            append(run[i], *part);
        }
    }
    Mapping* last = before;
    for (Word i = 0; i < parts; ++i) {
        run[i].first->prev = last;
        if (last) last->next = run[i].first;
        last = run[i].last;
    }
    last->next = end;
    if (end) end->prev = last;
    return true;
}

// A split needs as much budget as it weighs; with less it is the first thing after the next preemption point.
Mapped split_within(Mapping& m, const Run& whole, bool owner, Word& budget) {
    check(whole.weight <= most_weight);
    if (whole.weight > budget) return Mapped::part;
    if (!split(m, whole, owner)) return Mapped::no_memory;
    pay(budget, whole.weight);
    return Mapped::all;
}

// Whether no page is mapped there, and nothing belongs to the kernel.
bool is_empty(const Space& space, VAddr first, VAddr last) {
    VAddr page = first;
    steps += (last - first) >> page_log2;
    return !paging::next_mapped(space, page, last) && !spaces::kernel_area(space, first, last);
}

}  // namespace

Mapped fit(Space& space, VAddr page, unsigned log2, Word& budget) {
    while (log2_of(space, page) > log2) {
        Mapping &m = *paging::mapping(space, page), &top = topmost(m);
        Run whole = run_of(m);
        // Within a larger page, each of the parts counts as a mapping of its own.
        Word more = whole.large * ((1u << (whole.log2 - whole.part_log2())) - 1);
        Mapped fitted;
        if (Run all; log2_of(*top.space, top.page()) != whole.log2 && (all = run_of(top)).weight + more > most_weight)
            fitted = split_within(top, all, false, budget);
        else fitted = split_within(m, whole, true, budget);
        if (fitted != Mapped::all) return fitted;
    }
    return Mapped::all;
}

Mapped make_room(Space& from, VAddr source, unsigned& log2, Word& budget) {
    for (;;) {
        Mapping& m = *paging::node(from, source);
        // No ancestor of it is a large page.
        if (m.depth() > most_below_large) return Mapped::all;
        Mapping& top = topmost(m);
        if (log2_of(*top.space, top.page()) == page_log2) return Mapped::all;
        Run whole = run_of(top);
        if (whole.has_room(log2, paging::get(from, source).frame)) return Mapped::all;
        Mapped made = split_within(top, whole, false, budget);
        if (made != Mapped::all) return made;
        if (unsigned left = log2_of(from, source); left < log2) log2 = left;
    }
    return Mapped::all;
}

unsigned largest_of_sigma0(const Space& sigma0, VAddr page, VAddr last) {
    for (unsigned log2 : paging::sizes) {
        Word mask = (1u << log2) - 1;
        if (page & mask || last - page < mask || !paging::of_one_kind(page, log2)) continue;
        if (is_empty(sigma0, page, page + mask)) return log2;
    }
    return page_log2;
}

unsigned largest(const Space& from, VAddr source, const Space& to, VAddr target, VAddr last) {
    bool there = paging::get(from, source).present;
    unsigned most = there || !from.idempotent ? log2_of(from, source) : largest_of_sigma0(from, source, last);
    for (unsigned log2 : paging::sizes) {
        Word mask = (1u << log2) - 1;
        if (log2 > most || (source | target) & mask || last - source < mask) continue;
        if (log2_of(to, target) >= log2 || is_empty(to, target, target + mask)) return log2;
    }
    return page_log2;
}

}  // namespace mappings::large
