// SPDX-License-Identifier: BSD-2-Clause
#include "arm/aliases.hpp"

#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "arm/sharers.hpp"

namespace aliases {
namespace {

using namespace page_tables;
using sharers::Cell;

// The most pages to which one frame is granted at a time: more than there are domains, and few enough to revoke all
// with interrupts off. A further one replaces an earlier one, but none of the last three: an instruction may need as
// many.
constexpr Word most_sharers = 18, most_uncached = 16, kept_sharers = 3;

Cell cell_at(Space& space, VAddr page) { return {table(space, page), index(page)}; }

struct Access {
    VAddr at;
    bool cached, write;
};

bool cached(Word word) { return !(word & attribute_bits); }

// Whether an access conflicts with what has been granted to another page of the frame: a cached copy would miss a
// write.
bool conflicts(const Cell& there, const Access& access) {
    Word word = there.word();
    if (!cached(word) && !access.cached) return false;
    if (cached(word) && access.cached && there.granted_at() == access.at) return false;
    return word & (access.write ? granted_read : granted_write);
}

void take(const Cell& there, Word what) { change(there.space(), there.page(), there.word() & ~what); }

// Revokes one of the older grants of the frame.
void make_room(PAddr frame, const Cell& self) {
    Word newer = 0;
    sharers::each(frame, [&](const Cell& there) {
        if (there == self || ++newer <= kept_sharers) return true;
        take(there, granted | aliased);
        return false;
    });
}

}  // namespace

bool resolve(Space& space, VAddr page, bool write) {
    Cell self = cell_at(space, page);
    if (!self.mapping()) return false;      // a page of the kernel's, which no user writes to
    PAddr frame = frame_of(self.word());
    Access access{modified(space, page), cached(self.word()), write};
    bool both = false, none_cached = false;
    Word count = 0;
    sharers::each(frame, [&](const Cell& there) {
        if (there == self) return true;
        none_cached |= bool(there.word() & aliased);
        both |= &there.space() == &space && conflicts(there, access);
        return ++count < most_uncached || !none_cached;
    });
    if (count >= (none_cached ? most_uncached : most_sharers)) make_room(frame, self);
    // If all grants are uncached one more makes no difference.
    if (none_cached) return true;
    sharers::each(frame, [&](const Cell& there) {
        if (there == self) return true;
        if (both) change(there.space(), there.page(), there.word() | aliased);
        else if (host::keeps_caches && conflicts(there, access)) take(there, write ? granted : granted_write);
        return true;
    });
    return both;
}

bool none_cached(PAddr frame) {
    bool found = false;
    sharers::each(frame, [&](const Cell& there) {
        found = there.word() & aliased;
        return false;
    });
    return found;
}

bool room(Space& space, VAddr page, Word region, Word more) {
    if (more > most_sharers) return false;
    Word left = most_sharers - more;
    bool good = true;
    sharers::each(frame_of(cell_at(space, page).word()), [&](const Cell& there) {
        bool at_the_place = there.page() == page && there.space().arch.regions & region;
        good = at_the_place || left;
        left -= good && !at_the_place;
        return good;
    });
    return good;
}

bool alone(Space& space, VAddr page, Word count, bool write) {
    Word left = most_sharers;
    bool good = true;
    Cell self = cell_at(space, page);
    for (; count && good; --count, ++self.place, page += page_size) {
        if (sharers::nobody(self)) continue;
        Access access{modified(space, page), cached(self.word()), write};
        sharers::each(frame_of(self.word()), [&](const Cell& there) {
            if (there == self) return true;
            bool matters = &there.space() == &space || host::keeps_caches;
            good = --left && !(matters && (there.word() & aliased || conflicts(there, access)));
            return good;
        });
        good = good && !sharers::lingers(self);     // still in the ring of another frame: not several at once
    }
    return good;
}

}  // namespace aliases
