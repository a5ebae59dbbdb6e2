// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/ports.hpp"

#include "core/memory.hpp"

namespace ports {
namespace {

memory::Pool pool{sizeof(Record)};
Records list;

bool add(Space& holder, Space* source, Range range) {
    auto* r = static_cast<Record*>(pool.allocate());
    if (!r) return false;
    *r = {{}, &holder, source, static_cast<std::uint16_t>(range.first), static_cast<std::uint16_t>(range.last)};
    list.push_back(*r);
    return true;
}

void erase(Record& r) {
    lost(*r.holder);
    list.remove(r);
    pool.free(&r);
}

Record* at(const Space& holder, Word port) {
    for (Record* r = list.front(); r; r = list.after(*r))
        if (r->holder == &holder && r->first <= port && port <= r->last) return r;
    return nullptr;
}

// The end of the run of ports that begins with `port` and is all in one record of the space, or in none.
Word run_end(const Space& holder, Word port, Word last) {
    for (Record* r = list.front(); r; r = list.after(*r)) {
        if (r->holder != &holder) continue;
        if (r->first <= port && port <= r->last && r->last < last) last = r->last;
        if (r->first > port && r->first <= last) last = r->first - 1u;
    }
    return last;
}

Record* derived(const Space& source, Range range) {
    for (Record* r = list.front(); r; r = list.after(*r))
        if (r->source == &source && r->first <= range.last && r->last >= range.first) return r;
    return nullptr;
}

// Leaves first: a chain of mappings may be as long as users like. False if there is none.
bool erase_derived(Space& space, Range range) {
    Record* r = derived(space, range);
    if (!r) return false;
    while (Record* below = derived(*r->holder, {r->first, r->last})) r = below;
    erase(*r);
    return true;
}

// Whether `space` has the port by this record, or its holder has it from there.
bool comes_from(const Space& space, const Record* r, Word port) {
    while (r && r->holder != &space) r = r->source ? at(*r->source, port) : nullptr;
    return r;
}

// Afterwards none of the records of `space`, and of those that come from there, crosses from below `port` to it. All others
// stay whole: nobody pays, or loses what he has, for somebody else's fpages.
void cut(const Space& space, Word port) {
    if (port == 0 || port == count) return;
    for (Record *r = list.front(), *next; r; r = next) {
        next = list.after(*r);
        if (r->first >= port || r->last < port || !comes_from(space, r, port)) continue;
        if (add(*r->holder, r->source, {port, r->last})) {
            r->last = static_cast<std::uint16_t>(port - 1);
        } else {
            while (erase_derived(*r->holder, {r->first, r->last})) {}
            erase(*r);
            next = list.front();
        }
    }
}

}  // namespace

const Records& records() { return list; }

Range range_of(Fpage f) {
    Word log2 = f.raw >> 10 & 0x3f, first = f.raw >> 16;
    if (log2 >= 16) return log2 == 16 ? all : Range{1, 0};
    first &= ~((1u << log2) - 1);
    return {first, first + (1u << log2) - 1};
}

bool give_all(Space& server) { return add(server, nullptr, all); }

bool transfer(Space& from, Range& range, Space& to, bool grant) {
    if (&from == &to) range.first = range.last + 1;
    // A few runs where there are few records, to be done at once; else one, which takes ways through all of them.
    Word ways = 0;
    for (Word port, end; !range.empty() && ways < 192; range.first = end + 1, ways += pool.in_use() + 64) {
        port = range.first;
        end = run_end(to, port, run_end(from, port, range.last));
        if (!at(from, port) || at(to, port)) continue;
        if (!grant) {
            if (!add(to, &from, {port, end})) return false;
            continue;
        }
        cut(from, port);
        cut(from, end + 1);
        for (Record* r = list.front(); r; r = list.after(*r)) {
            if (r->first < port || r->last > end) continue;
            if (r->source == &from) r->source = &to;
            if (r->holder == &from) r->holder = &to;
        }
        lost(from);
    }
    return true;
}

bool take(Space& space, Range range, bool flush) {
    if (range.empty()) return true;
    cut(space, range.first);
    cut(space, range.last + 1);
    if (erase_derived(space, range)) return false;
    Word port = range.first;
    Record* r = at(space, port);
    if (!r && (port = run_end(space, port, range.last)) != range.last) r = at(space, port + 1);
    if (!r || !flush) return true;
    erase(*r);
    return false;
}

bool held(const Space& space, Range range) {
    for (Word port = range.first; port <= range.last; port = run_end(space, port, range.last) + 1)
        if (!at(space, port)) return false;
    return !range.empty();
}

}  // namespace ports
