// SPDX-License-Identifier: BSD-2-Clause
#include "arm/aliases.hpp"

#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "arm/sharers.hpp"

namespace aliases {
namespace {

using namespace page_tables;
using sharers::Cell;

// So many are granted one frame at a time: more than there are domains, and few enough to take it from all of them with
// interrupts off. Another one takes the place of one that has come before, but not of the last three: an instruction
// may need as many.
constexpr Word most_sharers = 18, most_uncached = 16, kept_sharers = 3;

Cell cell_at(Space& space, VAddr page) { return {table(space, page), index(page)}; }

struct Access {
    VAddr at;
    bool cached, write;
};

bool cached(Word word) { return !(word & attribute_bits); }

// Whether an access must not be granted beside what has been granted there: there would be a copy that knows nothing of
// a write.
bool conflicts(const Cell& there, const Access& access) {
    Word word = there.word();
    if (!cached(word) && !access.cached) return false;
    if (cached(word) && access.cached && there.granted_at() == access.at) return false;
    return word & (access.write ? granted_read : granted_write);
}

void take(const Cell& there, Word what) { change(there.space(), there.page(), there.word() & ~what); }

// One that has been granted the frame has not any more.
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
    if (!self.mapping()) return false;      // a page of the kernel's, which nobody writes to
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
    // All that are granted are not cached: one more makes no difference.
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
        good = good && !sharers::lingers(self);     // among those of another frame: not so many at once
    }
    return good;
}

}  // namespace aliases
