// SPDX-License-Identifier: BSD-2-Clause
#include "arm/aliases.hpp"

#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "core/mapping.hpp"

namespace aliases {
namespace {

using namespace page_tables;

Word& word_of(const Mapping& m) { return table(*m.space, m.page())->page[m.page() >> 12 & 0xff]; }

struct Access {
    VAddr at;
    bool cached, write;
};

bool cached(const Mapping& m) { return !(word_of(m) & attribute_bits); }

// Whether an access must not be granted beside what has been granted by `m`: there would be a copy that knows nothing of
// a write.
bool conflicts(const Mapping& m, const Access& access) {
    if (!cached(m) && !access.cached) return false;
    if (cached(m) && access.cached && modified(*m.space, m.page()) == access.at) return false;
    return word_of(m) & (access.write ? granted_read : granted_write);
}

}  // namespace

bool settle(Space& space, VAddr page, bool write) {
    const Mapping* self = paging::mapping(space, page);
    if (!self) return false;                // a page of the kernel's, which nobody writes to
    Access access{modified(space, page), cached(*self), write};
    const Mapping* first = self;
    while (first->prev) first = first->prev;
    bool both = false;
    for (const Mapping* m = first; m; m = m->next) {
        // All that are granted are not cached: one more makes no difference.
        if (word_of(*m) & aliased) return true;
        both |= m != self && m->space == &space && conflicts(*m, access);
    }
    for (const Mapping* m = first; m; m = m->next) {
        Word word = word_of(*m);
        if (both && word & granted && m != self) change(*m->space, m->page(), word | aliased);
        if (!both && m != self && host::keeps_caches && conflicts(*m, access))
            change(*m->space, m->page(), word & ~(write ? granted : granted_write));
    }
    return both;
}

}  // namespace aliases
