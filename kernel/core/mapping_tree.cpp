// SPDX-License-Identifier: BSD-2-Clause
#include "core/mapping_tree.hpp"

#include "core/check.hpp"
#include "core/memory.hpp"

namespace mappings {
namespace {

memory::Pool pool{sizeof(Mapping)};

Word pack(VAddr page, Word depth, Word status) { return page | depth << 2 | status; }

List<Sweep, &Sweep::link> paused;
Word paused_count;

[[gnu::cold, gnu::noinline]] void watch(Sweep& s, Mapping& root, Mapping* at) {
    s.at = is_below(at, root) ? at : nullptr;
    root.where |= Mapping::watched;
    if (s.at) at->where |= Mapping::watched;
}

// A node that paused sweeps may name is being removed.
[[gnu::cold, gnu::noinline]] void leave(const Mapping& m) {
    for (Sweep *s = paused.front(), *next; s; s = next, ++steps) {
        next = paused.after(*s);
        if (s->root == &m) abandon(*s);
        else if (s->at == &m) watch(*s, *s->root, m.next);
    }
}

void begin_again(Sweep& s, Mapping& m) {
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

// Status that a walk in the list's order finds is noted in all ancestors up to the top. Each ancestor is visited at
// most once for a bit, as long as consecutive nodes share it.
class Notes {
public:
    explicit Notes(Mapping& top) : top_(top), depth_{top.depth(), top.depth()} {}
    // Adds the status of a child of `at`.
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
    // by bit: the depth down to which the ancestors of the last node with status have it
    Word depth_[2];
    Word turn_ = Mapping::max_depth;    // the depth at which later nodes left that path
    Word all_ = 0;
};

}  // namespace

void pay(Word& budget, Word amount) {
    spend(budget, amount + steps / steps_a_mapping);
    steps %= steps_a_mapping;
}

void owe(Word amount) { steps += amount * steps_a_mapping; }

Mapping* insert_paid(Mapping& parent, Space& space, VAddr page) {
    Word depth = parent.depth() + 1;
    if (depth > Mapping::max_depth) return nullptr;
    auto* m = static_cast<Mapping*>(pool.take());
    if (!m) return nullptr;
    Mapping* next = parent.next;
    *m = {next, &parent, &parent, &space, pack(page, depth, 0)};
    if (next) next->prev = m;
    parent.next = m;
    check(!next || next->depth() <= depth);
    return m;
}

Mapping* insert_root(Space& space, VAddr page) {
    auto* m = static_cast<Mapping*>(pool.allocate(space.account));
    if (!m) return nullptr;
    m->space = &space;
    m->where = page;
    return m;
}

Mapping* allocate_chain(Word count) {
    Mapping* chain = nullptr;
    while (count--) {
        auto* m = static_cast<Mapping*>(pool.take());
        if (!m) {
            for (Mapping* next; chain; chain = next) next = chain->next, pool.free(chain);
            return nullptr;
        }
        m->next = chain;
        chain = m;
    }
    return chain;
}

void move(Mapping& m, Space& space, VAddr page) {
    // A sweep names the space of its page, which may be deleted before the sweep is done.
    for (Sweep *s = paused.front(), *next; s; s = next) {
        next = paused.after(*s);
        if (s->root == &m) abandon(*s);
    }
    m.space = &space;
    m.where = page | (m.where & page_mask);
}

void note_status(Mapping& m, Word status) {
    if (!status) return;
    for (Mapping* up = &m; up; up = up->parent, ++steps) up->where |= status;
}

Word remove(Mapping& m) {
    check(m.parent ? m.parent->depth() + 1 == m.depth() : !m.depth());
    Mapping* parent = m.parent;
    Word status = unlink(m);
    if (parent) note_status(*parent, status);
    return status;
}

Mapping* last_below(Mapping& m) {
    Mapping* last = &m;
    while (last->next && last->next->depth() > m.depth()) last = last->next;
    return last;
}

// The path from `m` to the next leaf consists of first children only.
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
            if (!affords(budget, cost)) break;
            notes.add(*parent, unlink(*at));
            at = parent;
            pay(budget, cost);
        }
    }
    notes.finish();
    return at == &m;
}

namespace {

// One part of the walk, as the budget allows; true if it is done. A node that is derived meanwhile is inserted right
// after its parent: if the parent has been visited it was no longer writable, so the new one is not either.
bool walk(Mapping& m, Sweep& sweep, Word& budget) {
    Mapping* at = sweep.root == &m && sweep.at != &m ? sweep.at : m.next;
    abandon(sweep);
    sweep.had_no_place = false;
    Notes notes(m);
    for (; is_below(at, m) && budget; at = at->next) {
        Word cost = cost_of(*at);
        if (!affords(budget, cost)) break;
        Word status = visit(*at, sweep.no_write, sweep);
        at->where |= status;
        notes.add(*at->parent, status);
        pay(budget, cost);
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

// Advances the sweep that has been queued longest, which stays the first; true if it is done, or its page has been
// granted.
[[gnu::cold]] bool help(Word& budget) {
    Sweep& sweep = *paused.front();
    Mapping& m = *sweep.root;
    if (paging::node(*sweep.space, *sweep.page) != &m) return abandon(sweep), true;
    if (!walk(m, sweep, budget)) {
        paused.remove(sweep);
        paused.push_front(sweep);
        return false;
    }
    end_visit(m, sweep);
    *sweep.page = behind(*sweep.space, m.page());
    return true;
}

}  // namespace

[[gnu::cold]] bool sweep_below(Mapping& m, Sweep& sweep, Word& budget) {
    if (sweep.root != &m) {
        abandon(sweep);
        // The place that becomes free is for this sweep: even without a budget it gets to the first node.
        if (sweep.had_no_place && paused_count == most_paused && !help(budget)) return false;
    }
    return walk(m, sweep, budget);
}

void begin_again_below(Mapping& m) {
    for (Sweep* s = paused.front(); s; s = paused.after(*s)) begin_again(*s, m);
}

void abandon(Sweep& sweep) {
    if (sweep.link.queued()) paused.remove(sweep), --paused_count;
    sweep.root = sweep.at = nullptr;
    if constexpr (several_sizes) sweep.had_itself = false;
}

Word in_use() { return pool.in_use(); }

}  // namespace mappings
