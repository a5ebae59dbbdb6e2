// SPDX-License-Identifier: BSD-2-Clause
#include "arm/aliases.hpp"

#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "core/mapping.hpp"

namespace aliases {
namespace {

using namespace page_tables;

Word word_at(const Space& space, VAddr page) { return table(space, page)->page[index(page)]; }

// 4 KB of a mapping.
struct Place {
    Space* space;
    VAddr page;
    Word word() const { return word_at(*space, page); }
};

// Where a mapping has a frame. One may have others of the frames that are derived from the same page.
bool has(const Mapping& m, PAddr frame, Place& place) {
    Word first = word_at(*m.space, m.page()), offset = frame - frame_of(first);
    place = {m.space, m.page() + offset};
    return offset < parts(first) * page_size;
}

struct Access {
    VAddr at;
    bool cached, write;
};

bool cached(Word word) { return !(word & attribute_bits); }

// Whether an access must not be granted beside what has been granted there: there would be a copy that knows nothing of
// a write.
bool conflicts(const Place& place, const Access& access) {
    Word word = place.word();
    if (!cached(word) && !access.cached) return false;
    if (cached(word) && access.cached && modified(*place.space, place.page) == access.at) return false;
    return word & (access.write ? granted_read : granted_write);
}

const Mapping* first_of_list(const Mapping* m) {
    while (m->prev) m = m->prev;
    return m;
}

}  // namespace

bool settle(Space& space, VAddr page, bool write) {
    const Mapping* self = paging::mapping(space, page);
    if (!self) return false;                // a page of the kernel's, which nobody writes to
    Word own = word_at(space, page);
    Access access{modified(space, page), cached(own), write};
    const Mapping* first = first_of_list(self);
    bool both = false;
    Place there;
    for (const Mapping* m = first; m; m = m->next) {
        if (!has(*m, frame_of(own), there)) continue;
        // All that are granted are not cached: one more makes no difference.
        if (there.word() & aliased) return true;
        both |= m != self && m->space == &space && conflicts(there, access);
    }
    for (const Mapping* m = first; m; m = m->next) {
        if (m == self || !has(*m, frame_of(own), there)) continue;
        if (both && there.word() & granted) change(*m->space, there.page, there.word() | aliased);
        if (!both && host::keeps_caches && conflicts(there, access))
            change(*m->space, there.page, there.word() & ~(write ? granted : granted_write));
    }
    return both;
}

bool alone(Space& space, VAddr page, Word count, bool write) {
    const Mapping* self = paging::mapping(space, page);
    PAddr first = frame_of(word_at(space, page)), bytes = count * page_size;
    Place there;
    for (const Mapping* m = first_of_list(self); m; m = m->next) {
        if (m == self || (m->space != &space && !host::keeps_caches)) continue;
        // Its first frame of these, if it has any.
        PAddr frame = frame_of(word_at(*m->space, m->page()));
        if (frame - first >= bytes) frame = first;
        for (; frame - first < bytes && has(*m, frame, there); frame += page_size) {
            VAddr own = page + (frame - first);
            if (there.word() & aliased || conflicts(there, {modified(space, own), cached(word_at(space, own)), write})) return false;
        }
    }
    return true;
}

}  // namespace aliases
