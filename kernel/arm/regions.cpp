// SPDX-License-Identifier: BSD-2-Clause
#include "arm/regions.hpp"

#include "arm/aliases.hpp"
#include "arm/caches.hpp"
#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "arm/residents.hpp"
#include "core/check.hpp"
#include "core/memory.hpp"

namespace regions {
namespace {

using namespace page_tables;

constexpr Word most_regions = 4, most_members = 16, pages = 256;
// The bits that have to agree for a page to be the same in two spaces.
constexpr Word identity = ~page_mask | present | writable | attribute_bits;

struct Region {
    Word domain;                        // 0: there is no such region
    Word section;
    CoarseTable* table;
    Space* member[most_members];
    Word members;

    Word access() const { return 1u << 2 * domain; }
};
Region all[most_regions];
memory::Pool tables{sizeof(CoarseTable)};

Region* at(Word section) {
    for (Region& r : all)
        if (r.domain && r.section == section) return &r;
    return nullptr;
}

// The region that a space is a member of there.
Region* of(const Space& space, Word section) {
    if (!space.arch.regions) return nullptr;
    Region* r = at(section);
    return r && space.arch.regions & r->access() ? r : nullptr;
}

PageTable* table_of(const Space& space, const Region& r) { return table(space, r.section << 20); }

bool same_pages(const Space& a, const Space& b, Word section) {
    const PageTable *s = table(a, section << 20), *t = table(b, section << 20);
    Word any = 0;
    for (Word i = 0; i < pages; ++i) {
        if ((s->page[i] ^ t->page[i]) & identity) return false;
        any |= s->page[i];
    }
    return any & present;
}

// Whether a section of the CPD is at the same address in the space.
bool at_home(const Space& space, Word section) {
    VAddr base = section << 20;
    return modified(space, base) == base && original(space, base) == base && table(space, base);
}

// For entries that differ in access permissions alone: the permissions that both have.
Word common(Word entry, Word other) { return (entry ^ other) & ~page_access(access_user_write) ? 0 : entry & other; }

// The kernel has written entries: cleans the lines, as the table walker does not look into the data cache.
void written(Region& r, Word first, Word count) {
    caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(&r.table->entry[first]), count * sizeof(Word));
}

void set_entry(Region& r, Word i, Word entry) {
    if (r.table->entry[i] != entry) write(r.table->entry[i], entry);
}

// Grants what all members may do to a page.
void synchronise(Region& r, Word i) {
    Word entry = small_entry(table_of(*r.member[0], r)->page[i]);
    for (Word m = 1; m < r.members; ++m) entry = common(entry, small_entry(table_of(*r.member[m], r)->page[i]));
    set_entry(r, i, entry);
}

// Revokes what one member may not do: that must be done at once, and needs no look at the others. The table may then
// grant less than it could, until there is a fault (share()).
void restrict_to(Region& r, const Space& space, Word first, Word count) {
    const PageTable& own = *table_of(space, r);
    bool changed = false;
    for (Word i = first, end = first + count; i < end; ++i) {
        Word entry = r.table->entry[i];
        if (!entry) continue;
        Word left = own.page[i] & granted ? common(entry, small_entry(own.page[i])) : 0;
        if (left == entry) continue;
        r.table->entry[i] = left;
        changed = true;
    }
    if (changed) written(r, first, count);
}

void add(Region& r, Space& space) {
    check(r.domain && r.members < most_members && !(space.arch.regions & r.access()));
    r.member[r.members++] = &space;
    space.arch.regions |= r.access();
    if (space.arch.domain) space.arch.dacr |= r.access();
}

void close(Region& r, Space& space) {
    check(space.arch.regions & r.access());
    space.arch.regions &= ~r.access();
    space.arch.dacr &= ~r.access();
}

// Its domain may have been taken away already.
void end(Region& r) {
    check(r.domain && r.members && r.table);
    host::clear_section(r.section, r.domain);
    for (Word m = 0; m < r.members; ++m) close(r, *r.member[m]);
    tables.free(r.table, memory::kernel);
    r = {};
}

void dissolve(Region& r) {
    Word domain = r.domain;
    end(r);
    host::release_domain(domain);
}

void leave(Region& r, Space& space) {
    if (r.members <= 2) return dissolve(r);
    close(r, space);
    Word m = 0;
    while (r.member[m] != &space) ++m;
    check(m < r.members);
    r.member[m] = r.member[--r.members];
}

// A region that is not in use; nullptr: all are.
Region* unused() {
    for (Region& r : all)
        if (!r.domain) return &r;
    return nullptr;
}

// Makes a region of a section whose entry in the CPD is one space's. The caller fills the table and cleans it.
Region* make(Region* r, Space& other, Word section) {
    auto* table = static_cast<CoarseTable*>(tables.allocate(memory::kernel));
    if (!table) return nullptr;
    *r = {host::take_section(section, other, *table), section, table, {}, 0};
    add(*r, other);
    return r;
}

}  // namespace

bool shares(const Space& space, Word section) { return of(space, section); }

bool join(Space& space, Word section) {
    if (!at_home(space, section)) return false;
    Region* r = at(section);
    if (r) {
        // Compared with one member only: where others differ nothing is granted.
        if (r->members == most_members || !same_pages(space, *r->member[0], section)) return false;
    } else {
        Space* other = host::holder_of(section);
        if (!other || !at_home(*other, section) || !same_pages(space, *other, section)) return false;
        if (!(r = unused())) return false;
        // Taking domains from others is as much as one fault may do: the next fault finds a free one.
        if (!host::domain_is_free(space, *other)) return true;
        if (!(r = make(r, *other, section))) return false;
        // Nothing is granted for a newcomer that the other member has not been granted: the table begins as that
        // one's.
        const PageTable &own = *table_of(space, *r), &others = *table_of(*other, *r);
        for (Word i = 0; i < pages; ++i)
            if (others.page[i] & own.page[i] & granted_read)
                r->table->entry[i] = common(small_entry(others.page[i]), small_entry(own.page[i]));
        written(*r, 0, pages);
        add(*r, space);
        host::purge();
        return true;
    }
    add(*r, space);
    restrict_to(*r, space, 0, pages);
    host::purge();                      // of pages that the newcomer has not been granted yet
    return true;
}

bool share(Space& space, VAddr page) {
    Region* r = of(space, page >> 20);
    if (!r) return false;
    Word i = index(page);
    const PageTable& own = *table_of(space, *r);
    if (r->table->entry[i] == small_entry(own.page[i])) return false;
    auto differs = [&](Word m) { return (table_of(*r->member[m], *r)->page[i] ^ own.page[i]) & identity; };
    for (Word m = 0; m < r->members; ++m) {
        if (!differs(m)) continue;
        // join() compares with the first member, so any that differs from it has to leave.
        leave(*r, r->member[0] == &space || differs(0) ? space : *r->member[m]);
        return true;
    }
    // If a frame is at many places of a region each has its own entry: they are granted in turn.
    if (!aliases::room(space, page & ~page_mask, r->access(), r->members - 1)) {
        dissolve(*r);
        return true;
    }
    Word gained = own.page[i] & (accessed | dirty | granted | aliased);
    for (Word m = 0; m < r->members; ++m)
        if (r->member[m] != &space)
            change(*r->member[m], page & ~page_mask, table_of(*r->member[m], *r)->page[i] | gained);
    Word before = r->table->entry[i];
    synchronise(*r, i);
    if (before && before != r->table->entry[i]) host::drop_translations(space, page & ~page_mask, true);
    if (r->table->entry[i] != small_entry(own.page[i])) leave(*r, space);
    return true;
}

void entries_changed(Space& space, VAddr page, Word count) {
    constexpr Word most = 16;
    Region* r = of(space, page >> 20);
    if (!r) return;
    // A page of more parts than are granted at a time is a megabyte, with no part left in common.
    if (count > most) leave(*r, space);
    else restrict_to(*r, space, index(page), count);
}

bool agree(const Space& space) {
    Word open = 0;
    for (const Region& r : all) {
        Word m = 0;
        while (m < r.members && r.member[m] != &space) ++m;
        if (!r.domain || m == r.members) continue;
        open |= r.access();
        const PageTable* own = table_of(space, r);
        for (Word i = 0; i < pages; ++i)
            if (Word entry = r.table->entry[i]; entry && (!own || common(entry, small_entry(own->page[i])) != entry))
                return false;
    }
    return space.arch.regions == open;
}

Word entry_of(Word section, Word domain) {
    const Region* r = at(section);
    return r && r->domain == domain ? first_level(*r->table) | page_tables::domain(domain) : 0;
}

bool may_have_lines(Word section) {
    const Region* r = at(section);
    return r && host::dirty(r->domain);
}

void leave_all(Space& space) {
    for (Region& r : all)
        if (space.arch.regions & r.access()) leave(r, space);
}

void dissolve_section(Word section) {
    if (Region* r = at(section)) dissolve(*r);
}

void dissolve_domain(Word domain) {
    for (Region& r : all)
        if (r.domain == domain) end(r);
}

}  // namespace regions
