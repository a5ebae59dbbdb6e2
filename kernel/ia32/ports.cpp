// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/ports.hpp"

#include "core/memory.hpp"

namespace ports {
namespace {

memory::Pool pool{sizeof(Record)};
using Siblings = List<Record, &Record::sibling>;
Siblings roots;

// The cost of a search through all records of a space, in mappings; and of a change to one.
Word way(const Space& space) { return space.arch.ports.count / 8; }
constexpr Word map_cost = 4;

void spend(Word& budget, Word amount) { budget -= budget < amount ? budget : amount; }

Siblings& siblings(const Record& r) { return r.source ? r.source->derived : roots; }

// `before`: one of its siblings; nullptr: it is the last.
Record* add(Space& holder, Record* source, Word first, Word last, Record* before = nullptr, bool overdraw = false) {
    Held& held = holder.arch.ports;
    Word depth = source ? source->depth + 1u : 0;
    if (held.count >= Held::most || depth > Record::max_depth) return nullptr;
    auto* r = static_cast<Record*>(overdraw ? pool.allocate() : pool.allocate(holder.account));
    if (!r) return nullptr;
    if (overdraw) holder.account.overdraw(sizeof(Record));
    r->holder = &holder;
    r->source = source;
    r->first = static_cast<std::uint16_t>(first);
    r->last = static_cast<std::uint16_t>(last);
    r->depth = static_cast<std::uint16_t>(depth);
    held.records.push_back(*r);
    held.count += 1;
    siblings(*r).insert_before(*r, before);
    return r;
}

// Nothing is derived from it.
void erase(Record& r) {
    r.holder->arch.ports.records.remove(r);
    r.holder->arch.ports.count -= 1;
    siblings(r).remove(r);
    pool.free(&r, r.holder->account);
}

// The space's record of a port, or nullptr. `last` is set to the end of the run of ports that are in the same record,
// or in none.
Record* look(const Space& holder, Word port, Word& last) {
    Record* found = nullptr;
    const auto& records = holder.arch.ports.records;
    for (Record* r = records.front(); r; r = records.after(*r)) {
        if (r->first > port) {
            if (r->first <= last) last = r->first - 1u;
        } else if (r->last >= port) {
            if (r->last < last) last = r->last;
            found = r;
        }
    }
    return found;
}

// Erases all records derived from one, leaves first, as far as the budget goes. True if none is left.
bool erase_below(Record& top, Word& budget) {
    for (Record* r = &top;;) {
        if (Record* below = r->derived.front()) {
            r = below;
        } else if (r == &top || !budget) {
            return r == &top;
        } else {
            Record* up = r->source;
            lost(*r->holder);
            erase(*r);
            r = up;
            --budget;
        }
    }
}

bool crosses(const Record& r, Word port) { return r.first < port && r.last >= port; }

// Begins to cut a record: inserts two records, low and high in this order, behind it. The records derived from it are
// moved to them one by one (divide). Meanwhile its ports are in two records; a search finds one of these, and removal
// finds the record being cut first. The account is overdrawn if need be: no space loses a record because another one's
// operation cuts it.
bool begin_cut(Record& r, Word port, bool of_others) {
    Record* high = add(*r.holder, r.source, port, r.last, siblings(r).after(r), of_others);
    if (!high) return false;
    if (!add(*r.holder, r.source, r.first, port - 1, high, of_others)) return erase(*high), false;
    r.cut = static_cast<std::uint16_t>(port);
    return true;
}

// Continues the cut: true when no record is derived from the old one any more and it is erased. A derived record that
// crosses the cut is cut first; without memory for that it is erased.
bool divide(Record& top, Word& budget) {
    for (Record* r = &top; budget;) {
        Record* below = r->derived.front();
        if (below && below->cut) {          // descending is no progress: it is not charged
            r = below;
            continue;
        }
        --budget;
        if (!below) {
            Record* up = r == &top ? nullptr : r->source;
            erase(*r);
            if (!up) return true;
            r = up;
        } else if (!crosses(*below, r->cut)) {
            Record* half = siblings(*r).after(*r);
            if (below->first >= r->cut) half = siblings(*r).after(*half);
            r->derived.remove(*below);
            below->source = half;
            half->derived.push_back(*below);
        } else if (!begin_cut(*below, r->cut, true) && erase_below(*below, budget)) {
            lost(*below->holder);
            erase(*below);
        }
    }
    return false;
}

// Cuts the space's records at the ends of a range, as far as there is memory: a record that still crosses an end has
// none derived from it. False when the budget is used up.
bool isolate(Space& space, Range range, Word& budget) {
    const auto& records = space.arch.ports.records;
    while (budget) {
        Record* found = nullptr;
        for (Record* r = records.front(); r; r = records.after(*r)) {
            if (r->cut || crosses(*r, range.first) || crosses(*r, range.last + 1)) found = r;
            if (r->cut) break;
        }
        if (!found) return true;
        if (!found->cut && !begin_cut(*found, crosses(*found, range.first) ? range.first : range.last + 1, false))
            return erase_below(*found, budget);
        divide(*found, budget);
        spend(budget, way(space));
    }
    return false;
}

bool give(Record& r, Space& to) {
    Space& from = *r.holder;
    if (to.arch.ports.count == Held::most || !to.account.charge(sizeof(Record))) return false;
    from.account.credit(sizeof(Record));
    from.arch.ports.records.remove(r);
    from.arch.ports.count -= 1;
    to.arch.ports.records.push_back(r);
    to.arch.ports.count += 1;
    r.holder = &to;
    lost(from);
    return true;
}

}  // namespace

Range range_of(Fpage f) {
    Word log2 = f.raw >> 10 & 0x3f, first = f.raw >> 16;
    if (log2 >= 16) return log2 == 16 ? all : Range{1, 0};
    first &= ~((1u << log2) - 1);
    return {first, first + (1u << log2) - 1};
}

bool give_all(Space& server) { return add(server, nullptr, all.first, all.last); }

bool transfer(Space& from, Range& range, Space& to, bool grant, Word& budget) {
    if (&from == &to) range.first = range.last + 1;
    while (!range.empty() && budget) {
        Word port = range.first, end = range.last;
        Record *source = look(from, port, end), *there = look(to, port, end);
        if (source && !there && !grant && !add(to, source, port, end)) return false;
        if (source && !there && grant) {
            if (!isolate(from, {port, end}, budget)) break;
            source = look(from, port, end);
            if (source->first != port || source->last != end || !give(*source, to)) return false;
        }
        range.first = end + 1;
        spend(budget, map_cost + way(from) + way(to) + (grant ? way(from) : 0));
    }
    return true;
}

bool take(Space& space, Range range, bool flush, Word& budget) {
    if (range.empty()) return true;
    if (!isolate(space, range, budget)) return false;
    const auto& records = space.arch.ports.records;
    for (Record *r = records.front(), *next; r; r = next) {
        next = records.after(*r);
        if (r->first > range.last || r->last < range.first) continue;
        if (!budget || !erase_below(*r, budget)) return false;
        if (!flush) continue;
        erase(*r);
        spend(budget, 1);
        lost(space);
    }
    // Searches are charged after the work, so that any budget is enough for some of it.
    spend(budget, 1 + way(space));
    return true;
}

bool held(const Space& space, Range range) {
    for (Word port = range.first, end; port <= range.last; port = end + 1)
        if (!look(space, port, end = range.last)) return false;
    return !range.empty();
}

}  // namespace ports
