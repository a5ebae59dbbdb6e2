// SPDX-License-Identifier: BSD-2-Clause
#include "core/mapping.hpp"

#include "core/check.hpp"
#include "core/memory.hpp"
#include "core/space.hpp"

namespace mappings {
namespace {

memory::Pool pool{sizeof(Mapping)};

constexpr Word no_limit = ~Word{0};
// A stretch without a page is looked through in one go; what that takes at most, in mappings.
constexpr VAddr stretch = (VAddr{1} << paging::table_log2) - 1;
constexpr Word stretch_cost = between_points;
// What it takes to see to a page, beside what is done to those derived from it; and to map it.
constexpr Word page_cost = 2, map_cost = 8;

// Ways through lists and tables since they were paid for, in steps. A budget is in mappings: so many steps take as long as one.
Word steps;
constexpr Word steps_a_mapping = 16;
// A page of the kernel's for tables: it is zeroed.
constexpr Word table_steps = 6 * steps_a_mapping;

void spend(Word& budget, Word amount) { budget -= budget < amount ? budget : amount; }

// For what is done, and the ways that it took.
void pay(Word& budget, Word amount) {
    spend(budget, amount + steps / steps_a_mapping);
    steps = 0;
}

// Over what has no page tables, paid for as ways: the next address up to `last` that may have pages; last + 1 if none has.
VAddr skip_unmapped(const Space& space, VAddr from, VAddr last, Word& budget) {
    VAddr next = paging::skip_unmapped(space, from, last);
    steps += (next - from) >> paging::table_log2;
    if (next > last) pay(budget, 0);
    return next;
}

Word pack(VAddr page, Word depth, Word status) { return page | depth << 2 | status; }

void move(Mapping& m, Space& space, VAddr page) {
    m.space = &space;
    m.where = page | (m.where & page_mask);
}

Mapping* insert_child(Mapping* parent, Space& space, VAddr page) {
    if (parent && parent->depth() == Mapping::max_depth) return nullptr;
    auto* m = static_cast<Mapping*>(pool.allocate(space.account));
    if (!m) return nullptr;
    m->space = &space;
    m->parent = parent;
    m->where = pack(page, parent ? parent->depth() + 1 : 0, 0);
    if (parent) {
        m->prev = parent;
        m->next = parent->next;
        if (m->next) m->next->prev = m;
        parent->next = m;
        check(!m->next || m->next->depth() <= m->depth());
    }
    return m;
}

// Moves what the hardware noted about a page into the database: every mapping that it was derived from includes it in
// its own status, and each is reset by itself (manual 4.2: resetting is not recursive).
void note_status(Mapping& m, Word status) {
    if (!status) return;
    for (Mapping* up = &m; up; up = up->parent, ++steps) up->where |= status;
}

// Whether a node, or the end of the list, is below another one from which a walk has come to it.
bool is_below(const Mapping* n, const Mapping& m) { return n && n->depth() > m.depth(); }

List<Sweep, &Sweep::link> paused;
Word paused_count;

[[gnu::cold, gnu::noinline]] void watch(Sweep& s, Mapping& root, Mapping* at) {
    s.at = is_below(at, root) ? at : nullptr;
    root.where |= Mapping::watched;
    if (s.at) at->where |= Mapping::watched;
}

// A node that sweeps may name goes away.
[[gnu::cold, gnu::noinline]] void leave(const Mapping& m) {
    for (Sweep *s = paused.front(), *next; s; s = next, ++steps) {
        next = paused.after(*s);
        if (s->root == &m) abandon(*s);
        else if (s->at == &m) watch(*s, *s->root, m.next);
    }
}

// What may come of a large page, in mappings (Run): one as large counts as what splitting it takes. So a split never takes more than
// the budget from one preemption point to the next.
constexpr Word large_weight = 16, most_weight = between_points;
// Below a large page nothing is deeper than that.
constexpr Word most_below_large = most_weight - large_weight;

// The nodes below `m` come into another order: those visited and those that were not are mixed.
[[maybe_unused]] void begin_again(Sweep& s, Mapping& m) {
    Mapping* up = s.at;
    if (up && up->depth() > m.depth() + most_below_large) return;
    for (; up && up != &m && up->depth() > m.depth(); up = up->parent) ++steps;
    if (up != &m) return;
    s.at = s.root->depth() >= m.depth() ? s.root : &m;
    m.where |= Mapping::watched;
}

// Takes one page out of its space and returns its last status. Its children must be gone.
Word unlink(Mapping& m) {
    check(paging::get(*m.space, m.page()).present && paging::mapping(*m.space, m.page()) == &m);
    check(!m.next || m.next->depth() <= m.depth());
    Word status = paging::clear(*m.space, m.page());
    paging::mapping(*m.space, m.page()) = nullptr;
    if (m.where & Mapping::watched) leave(m);
    if (m.prev) m.prev->next = m.next;
    if (m.next) m.next->prev = m.prev;
    pool.free(&m, m.space->account);
    return status;
}

Word remove(Mapping& m) {
    check(m.parent ? m.parent->depth() + 1 == m.depth() : !m.depth());
    Mapping* parent = m.parent;
    Word status = unlink(m);
    if (parent) note_status(*parent, status);
    return status;
}

// The last node of the run below `m`, or `m` itself.
Mapping* last_below(Mapping& m) {
    Mapping* last = &m;
    while (last->next && last->next->depth() > m.depth()) last = last->next;
    return last;
}

// What a walk below a page, in the list's order, sees of status: noted in all that are above, each of which is met once for a bit.
class Notes {
public:
    explicit Notes(Mapping& top) : top_(top), depth_{top.depth(), top.depth()} {}
    // What was seen of a child of `at`.
    void add(Mapping& at, Word status) {
        if (turn_ > at.depth()) turn_ = at.depth();
        if (status) go_up(at, status);
    }
    void finish() { note_status(top_, all_); }

private:
    void go_up(Mapping& at, Word status) {
        for (Word i = 0; i < 2; ++i) {
            if (depth_[i] > turn_) depth_[i] = turn_;
            if (!(status & 1u << i)) continue;
            for (Mapping* up = &at; up->depth() > depth_[i]; up = up->parent) up->where |= 1u << i;
            depth_[i] = at.depth();
        }
        turn_ = Mapping::max_depth;
        all_ |= status;
    }

    Mapping& top_;
    Word depth_[2];                     // by bit: down to which depth the way to the last node that something was seen of has it
    Word turn_ = Mapping::max_depth;    // where the ways to those after it leave that way
    Word all_ = 0;
};

// Where there is one, not all that follows is used.
constexpr bool several_sizes = paging::sizes[0] != page_log2;

unsigned log2_of(const Space& space, VAddr page) {
    if constexpr (several_sizes) return paging::log2_of(space, page);
    return page_log2;
}

// What it takes to change a page, in mappings: four small parts of a large one take as long as a page of their size. Who has
// such pages has more to do for each one (arm/page_tables.cpp: other addresses of the frame, lines of the cache).
Word cost_of(const Mapping& m) {
    if constexpr (several_sizes) return ((1u << (log2_of(*m.space, m.page()) - page_log2)) + 3) / 4 + 1;
    return 1;
}

// Removes all below `m`, leaf by leaf from the front, as long as there is a budget; true if all is gone. The way from `m`
// to the next leaf leads over first children only.
bool remove_below(Mapping& m, Word& budget) {
    Mapping* at = &m;
    Notes notes(m);
    for (;;) {
        if (is_below(at->next, *at)) {
            at = at->next;
        } else if (at == &m || !budget) {
            break;
        } else {
            Mapping* parent = at->parent;
            Word cost = cost_of(*at);
            notes.add(*parent, unlink(*at));
            at = parent;
            pay(budget, cost);
        }
    }
    notes.finish();
    return at == &m;
}

Word reset_status(Mapping& m) {
    Word status = m.status();
    m.where &= ~Mapping::status_mask;
    return status;
}

Mapping* mapping_at(Space& space, VAddr page) {
    return paging::get(space, page).present ? paging::mapping(space, page) : nullptr;
}

// The address behind a page.
VAddr behind(const Space& space, VAddr page) { return (page | ((1u << log2_of(space, page)) - 1)) + 1; }

// Notes the status of all below `m`, and takes writing from them if asked, as long as there is a budget; true if that is done.
// What comes to be below `m` meanwhile stands right behind its parent: if that has been visited, there was no writing to pass on.
bool walk(Mapping& m, Sweep& sweep, Word& budget) {
    Mapping* at = sweep.root == &m && sweep.at != &m ? sweep.at : m.next;
    abandon(sweep);
    sweep.had_no_place = false;
    Notes notes(m);
    for (; is_below(at, m) && budget; at = at->next) {
        Word status = paging::take_status(*at->space, at->page(), sweep.no_write);
        at->where |= status;
        notes.add(*at->parent, status);
        pay(budget, cost_of(*at));
    }
    notes.finish();
    if (!is_below(at, m)) return true;
    sweep.had_no_place = paused_count == most_paused;
    if (sweep.had_no_place) return false;
    sweep.root = &m;
    watch(sweep, m, at);
    paused.push_back(sweep);
    ++paused_count;
    return false;
}

// Goes on with the one that has been there the longest, which it stays; true if that is at its end, or its page has been granted.
[[gnu::cold]] bool help(Word& budget) {
    Sweep& sweep = *paused.front();
    Mapping& m = *sweep.root;
    if (mapping_at(*sweep.space, *sweep.page) != &m) return abandon(sweep), true;
    if (!walk(m, sweep, budget)) {
        paused.remove(sweep);
        paused.push_front(sweep);
        return false;
    }
    *sweep.status |= reset_status(m);
    *sweep.page = behind(*sweep.space, m.page());
    return true;
}

// The walk over what is below a page, part by part.
[[gnu::cold]] bool sweep_below(Mapping& m, Sweep& sweep, Word& budget) {
    if (sweep.root != &m) {
        abandon(sweep);
        // What is free then is its own: even without a budget it comes to the first node.
        if (sweep.had_no_place && paused_count == most_paused && !help(budget)) return false;
    }
    return walk(m, sweep, budget);
}

PAddr frame_of(const Mapping& m) { return paging::get(*m.space, m.page()).frame; }

// Nodes for `count` parts, chained; nullptr when memory is exhausted.
Mapping* allocate_chain(Word count) {
    Mapping* chain = nullptr;
    while (count--) {
        auto* m = static_cast<Mapping*>(pool.allocate());
        if (!m) {
            for (Mapping* next; chain; chain = next) next = chain->next, pool.free(chain);
            return nullptr;
        }
        m->next = chain;
        chain = m;
    }
    return chain;
}

// What comes of a large page, itself included. Of the page: one as large counts as `large_weight`, and a smaller one as 1. Of each
// part that it can become: likewise, with one as large as that, or larger, as `large_weight`. Neither is more than `most_weight`.
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

[[maybe_unused]] Run run_of(Mapping& m) {
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

// Makes pages of the next size of one, and of all as large that were derived from it. Each part of it is followed by those of
// the others, and by the smaller pages, that were derived from that part, in their old order. `owner`: on behalf of the space
// that has it, whose account has to allow that. False when memory is exhausted.
[[maybe_unused]] bool split(Mapping& m, const Run& whole, bool owner) {
    const unsigned log2 = whole.log2, part_log2 = whole.part_log2();
    Word parts = 1u << (log2 - part_log2);
    Mapping *before = m.prev, *end = whole.end;
    // Those below do not depend on what the accounts of their spaces allow: who splits may do so.
    Word bytes = (parts - 1) * sizeof(Mapping);
    if (!owner) m.space->account.overdraw(bytes);
    else if (!m.space->account.charge(bytes)) return false;
    Mapping* fresh = allocate_chain(whole.large * (parts - 1));
    if (!fresh) return m.space->account.credit(bytes), false;
    for (Sweep* s = paused.front(); s; s = paused.after(*s)) begin_again(*s, m);

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
            if (!(n->parent->page() & ((1u << log2) - 1)) && frame_of(*n->parent) == frame) n->parent = part_of(*n->parent, i);
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

// A split is for who has what it takes left of a budget; else it comes first after the next point.
[[maybe_unused]] Mapped split_within(Mapping& m, const Run& whole, bool owner, Word& budget) {
    check(whole.weight <= most_weight);
    if (whole.weight > budget) return Mapped::part;
    if (!split(m, whole, owner)) return Mapped::no_memory;
    pay(budget, whole.weight);
    return Mapped::all;
}

// No page of the space there is larger than asked for, afterwards.
Mapped fit(Space& space, VAddr page, unsigned log2, Word& budget) {
    if constexpr (several_sizes)
        while (log2_of(space, page) > log2) {
            Mapping &m = *paging::mapping(space, page), &top = topmost(m);
            Run whole = run_of(m);
            // In a larger one, each that becomes several counts as those.
            Word more = whole.large * ((1u << (whole.log2 - whole.part_log2())) - 1);
            Mapped fitted;
            if (Run all; log2_of(*top.space, top.page()) != whole.log2 && (all = run_of(top)).weight + more > most_weight)
                fitted = split_within(top, all, false, budget);
            else
                fitted = split_within(m, whole, true, budget);
            if (fitted != Mapped::all) return fitted;
        }
    return Mapped::all;
}

// Before something is derived from a page, `log2` large: the largest page above is split until what comes of it, with that, is no
// more than may be. The page may be smaller then than was asked for; so is what is derived from it.
Mapped make_room(Space& from, VAddr source, unsigned& log2, Word& budget) {
    if constexpr (several_sizes)
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

bool sigma0_may_have(const Space& sigma0, VAddr page) {
    return page < paging::user_limit() && !paging::kernel_frame(page) && !spaces::kernel_area(sigma0, page);
}

bool overlap(const Fpage& area, VAddr first, VAddr last) {
    return !area.is_nil() && area.base() <= last && first <= area.last();
}

// Whether there is nothing of the kernel's, and no page of anybody's.
[[maybe_unused]] bool is_empty(const Space& space, VAddr first, VAddr last) {
    VAddr page = first;
    steps += (last - first) >> page_log2;
    return !paging::next_mapped(space, page, last) && !overlap(space.utcb_area, first, last) && !overlap(space.kip_area, first, last);
}

// The largest page that sigma0 can get there.
unsigned largest_of_sigma0(const Space& sigma0, VAddr page, VAddr last) {
    if constexpr (several_sizes)
        for (unsigned log2 : paging::sizes) {
            Word mask = (1u << log2) - 1;
            if (page & mask || last - page < mask || !paging::of_one_kind(page, log2)) continue;
            if (is_empty(sigma0, page, page + mask)) return log2;
        }
    return page_log2;
}

// The largest page that can be transferred in one piece. Smaller ones at the target stay as they are.
unsigned largest(const Space& from, VAddr source, const Space& to, VAddr target, VAddr last) {
    if constexpr (several_sizes) {
        bool there = paging::get(from, source).present;
        unsigned most = there || !from.idempotent ? log2_of(from, source) : largest_of_sigma0(from, source, last);
        for (unsigned log2 : paging::sizes) {
            Word mask = (1u << log2) - 1;
            if (log2 > most || (source | target) & mask || last - source < mask) continue;
            if (log2_of(to, target) >= log2 || is_empty(to, target, target + mask)) return log2;
        }
    }
    return page_log2;
}

// What is at a target goes away, as large as was said first, whatever has become of the source between two parts.
Mapped clear_target(Space& to, VAddr target, unsigned& clearing, Word& budget) {
    if (!clearing) return Mapped::all;
    Mapped fitted = fit(to, target, clearing, budget);
    if (fitted != Mapped::all) return fitted;
    Mapping* old = mapping_at(to, target);
    if (old && !remove_below(*old, budget)) return Mapped::part;
    if (old) remove(*old);
    clearing = 0;
    return Mapped::all;
}

// `log2` is what it has been in the end.
Mapped transfer_page(Space& from, VAddr source, Space& to, VAddr target, unsigned& log2, Word rights, bool grant, Progress& progress,
                     Word& budget) {
    if (!(rights & rights_all) || target >= paging::user_limit()) return Mapped::all;
    if (from.idempotent && !paging::get(from, source).present && sigma0_may_have(from, source) && !materialise(from, source, log2))
        return Mapped::no_memory;
    if (grant) {
        Mapped fitted = fit(from, source, log2, budget);
        if (fitted != Mapped::all) return fitted;
    }
    Mapping* m = mapping_at(from, source);
    if (!m || spaces::kernel_area(to, target)) return Mapped::all;
    // A page that nobody mapped is the kernel's: a UTCB of an area that has been moved.
    if (paging::get(to, target).present && !mapping_at(to, target)) return Mapped::all;

    paging::Page page = paging::get(from, source);
    bool writable = page.writable && rights & right_write;
    if (Mapping* old = mapping_at(to, target)) {
        if (!grant && paging::get(to, target).frame == page.frame && old->parent == m) {
            if (!writable || paging::get(to, target).writable) return Mapped::all;
            Mapped fitted = fit(to, target, log2, budget);
            if (fitted != Mapped::all) return fitted;
            paging::allow_write(to, target);
            return Mapped::all;
        }
        progress.clearing = log2;
        Mapped cleared = clear_target(to, target, progress.clearing, budget);
        if (cleared != Mapped::all) return cleared;
        // The source may have been derived from what just went away, or have become several pages with it.
        m = mapping_at(from, source);
        if (!m) return Mapped::all;
    }
    if (!grant) {
        Mapped made = make_room(from, source, log2, budget);
        if (made != Mapped::all) return made;
        m = mapping_at(from, source);
    }
    Word unused = memory::pages_unused();
    if (!paging::ensure_table(to, target)) return Mapped::no_memory;
    steps += (unused - memory::pages_unused()) * table_steps;
    if (grant) {
        if (!to.account.charge(sizeof(Mapping))) return Mapped::no_memory;
        from.account.credit(sizeof(Mapping));
        // The target takes the source's place in the tree; what was derived from it stays.
        note_status(*m, paging::clear(from, source));
        paging::mapping(from, source) = nullptr;
        move(*m, to, target);
    } else {
        m = insert_child(m, to, target);
        if (!m) return Mapped::no_memory;
    }
    check(!((source | target | page.frame) & ((1u << log2) - 1)));
    check(target < paging::user_limit() && !spaces::kernel_area(to, target));
    check(!paging::get(to, target).present && !paging::kernel_frame(page.frame));
    paging::set(to, target, page.frame, writable, page.attribute, log2);
    paging::mapping(to, target) = m;
    VAddr end = target + (1u << log2);
    if (end > progress.end) progress.end = end;
    return Mapped::all;
}

struct Range {
    VAddr source, target;
    unsigned log2;
};

// Manual 5.2: the send base picks the part of the larger of the two fpages.
Range match(Fpage send, Fpage window, Word base) {
    unsigned s = send.log2(), w = window.log2();
    auto below = [](Word value, unsigned log2) { return log2 >= 32 ? value : value & ((1u << log2) - 1); };
    auto aligned = [](Word value, unsigned log2) { return log2 >= 32 ? 0 : value & ~((1u << log2) - 1); };
    if (s <= w) return {send.base(), window.base() + aligned(below(base, w), s), s};
    return {send.base() + aligned(below(base, s), w), window.base(), w};
}

}  // namespace

Mapped transfer(Space& from, Fpage send, Space& to, Fpage window, Word base, bool grant, Progress& progress, Word& budget) {
    if (send.is_nil() || window.is_nil() || &from == &to) return Mapped::all;
    Range r = match(send, window, base);
    VAddr last = r.source + (r.log2 >= 32 ? ~Word{0} : (1u << r.log2) - 1);
    if (last >= paging::user_limit()) last = paging::user_limit() - 1;
    Word& done = progress.done;
    for (VAddr page; (page = r.source + done) <= last;) {
        if (!budget) return Mapped::part;
        // Sigma0 has every page, also where it has no page table yet.
        if (!from.idempotent && !progress.clearing) {
            page = skip_unmapped(from, page, last, budget);
            done = page - r.source;
            if (page > last) break;
            VAddr end = (page | stretch) < last ? page | stretch : last;
            if (!paging::next_mapped(from, page, end)) {
                done = end + 1 - r.source;
                spend(budget, stretch_cost);
                continue;
            }
        }
        steps += (page - r.source - done) >> page_log2;
        done = page - r.source;
        VAddr target = r.target + done;
        Mapped mapped = clear_target(to, target, progress.clearing, budget);
        if (mapped != Mapped::all) return mapped;
        unsigned log2 = largest(from, page, to, target, last);
        mapped = transfer_page(from, page, to, target, log2, send.rights(), grant, progress, budget);
        if (mapped != Mapped::all) return mapped;
        done += 1u << log2;
        pay(budget, map_cost);
    }
    return Mapped::all;
}

Word as_rights(Word status) {
    return (status & paging::accessed ? Word{right_read | right_execute} : 0) | (status & paging::dirty ? Word{right_write} : 0);
}

bool unmap(Space& space, Fpage fpage, bool flush, VAddr& at, Word& status, Sweep& sweep, Word& budget) {
    bool everything = fpage.rights() == rights_all, write = fpage.rights() & right_write;
    VAddr last = fpage.last() < paging::user_limit() ? fpage.last() : paging::user_limit() - 1;
    while (at <= last && budget) {
        at = skip_unmapped(space, at, last, budget);
        if (at > last) break;
        VAddr page = at, end = (at | stretch) < last ? at | stretch : last;
        if (!paging::next_mapped(space, page, end)) {
            at = end + 1;
            spend(budget, stretch_cost);
            continue;
        }
        steps += (page - at) >> page_log2;
        at = page;
        if (fit(space, page, fpage.log2(), budget) == Mapped::part) return false;
        VAddr next = behind(space, page);
        Word cost = page_cost;
        if (Mapping* m = mapping_at(space, page)) {
            cost += cost_of(*m);
            // Itself first: while that goes on below, nobody else gets what is being taken.
            if (!everything || !flush) note_status(*m, paging::take_status(space, m->page(), write && flush));
            sweep.space = &space, sweep.page = &at, sweep.status = &status, sweep.no_write = write;
            if (everything ? !remove_below(*m, budget) : !sweep_below(*m, sweep, budget)) return false;
            status |= reset_status(*m);
            if (everything && flush) status |= remove(*m);
        }
        at = next;
        pay(budget, cost);
    }
    return at > last;
}

Word unmap(Space& space, Fpage fpage, bool flush) {
    if (fpage.is_nil()) return 0;
    VAddr at = fpage.base();
    Word status = 0, budget;
    Sweep sweep{};
    while (!unmap(space, fpage, flush, at, status, sweep, budget = no_limit)) {}
    return as_rights(status);
}

[[gnu::cold]] void abandon(Sweep& sweep) {
    if (sweep.link.queued()) paused.remove(sweep), --paused_count;
    sweep.root = sweep.at = nullptr;
}

void set_attribute(Space& space, Fpage fpage, Word attribute) {
    if (fpage.is_nil()) return;
    VAddr last = fpage.last();
    // sigma0 owns pages before it has touched them, and gives a device's their attribute before anybody else has them.
    if (space.idempotent && last - fpage.base() < 4u << 20)
        for (VAddr page = fpage.base(), next = page;; page = next) {
            if (!paging::get(space, page).present) materialise(space, page, largest_of_sigma0(space, page, last));
            next = behind(space, page);
            if (next - 1 >= last) break;
        }
    for (VAddr page = fpage.base(), next; paging::next_mapped(space, page, last); page = next) {
        Word budget = no_limit;
        fit(space, page, fpage.log2(), budget);
        next = behind(space, page);
        if (Mapping* m = mapping_at(space, page)) {
            for (Mapping *n = m, *end = last_below(*m)->next; n != end; n = n->next)
                paging::set_attribute(*n->space, n->page(), attribute);
        }
        if (next - 1 >= last) break;
    }
}

bool materialise(Space& sigma0, VAddr page, unsigned log2) {
    page &= ~page_mask;
    if (!sigma0_may_have(sigma0, page) || !paging::ensure_table(sigma0, page)) return false;
    Mapping* m = insert_child(nullptr, sigma0, page);
    if (!m) return false;
    paging::set(sigma0, page, page, true, 0, log2);
    paging::mapping(sigma0, page) = m;
    return true;
}

Word in_use() { return pool.in_use(); }

bool consistent(Space& space, Word& count) {
    for (VAddr page = 0; paging::next_mapped(space, page, paging::user_limit() - 1); page = behind(space, page)) {
        Mapping* m = mapping_at(space, page);
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
