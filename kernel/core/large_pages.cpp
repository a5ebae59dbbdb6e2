// SPDX-License-Identifier: BSD-2-Clause
#include "core/large_pages.hpp"

#include "core/check.hpp"
#include "core/mapping_tree.hpp"

namespace mappings::large {
namespace {

// What comes of a large page, itself included. Of the page: one as large counts as `large_weight`, and a smaller one as
// 1. Of each part that it can become: likewise, with one as large as that, or larger, as `large_weight`. Neither is
// more than `most_weight`.
struct Run {
    static constexpr Word most_parts = 16;
    Mapping* end;               // in the list
    unsigned log2;
    PAddr frame;
    Word large;                 // how many are as large as the page
    Word weight;
    Word part[most_parts];      // without those as large as the page

    // Where parts are split no more, nothing is asked of them.
    unsigned part_log2() const {
        const unsigned* size = paging::sizes;
        while (*size >= log2) ++size;
        return *size;
    }
    // Whether one more may come of it, that large, of a frame.
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

// Makes pages of the next size of one, and of all as large that were derived from it. Each part of it is followed by
// those of the others, and by the smaller pages, that were derived from that part, in their old order. `owner`: on
// behalf of the space that has it, whose account has to allow that. False when memory is exhausted.
bool split(Mapping& m, const Run& whole, bool owner) {
    const unsigned log2 = whole.log2, part_log2 = whole.part_log2();
    Word parts = 1u << (log2 - part_log2);
    Mapping *before = m.prev, *end = whole.end;
    // Those below do not depend on what the accounts of their spaces allow: who splits may do so.
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
    // Of a node that has been split already.
    auto part_of = [&](const Mapping& n, Word i) { return paging::mapping(*n.space, n.page() + (i << part_log2)); };
    bool split_above = false;
    for (Mapping *n = &m, *next; n != end; n = next, split_above = true) {
        next = n->next;
        if (log2_of(*n->space, n->page()) < log2) {
            Word i = (frame_of(*n) - frame) >> part_log2;
            // Only what begins where the whole does can have become several.
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

// A split needs what it weighs left of a budget; else it comes first after the next point.
Mapped split_within(Mapping& m, const Run& whole, bool owner, Word& budget) {
    check(whole.weight <= most_weight);
    if (whole.weight > budget) return Mapped::part;
    if (!split(m, whole, owner)) return Mapped::no_memory;
    pay(budget, whole.weight);
    return Mapped::all;
}

// Whether there is nothing of the kernel's, and no page of anybody's.
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
        // In a larger one, each that becomes several counts as those.
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
        Mapping& m = *mapping_at(from, source);
        // Nothing large is above it.
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
