// SPDX-License-Identifier: BSD-2-Clause
#include "arm/aliases.hpp"

#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "core/mapping.hpp"

namespace aliases {
namespace {

using namespace page_tables;

Word& word_of(const Mapping& m) { return table(*m.space, m.page())->page[m.page() >> 12 & 0xff]; }

// Whether the page at `here` must not be granted beside what has been granted by `m`.
bool conflicts(const Mapping& m, VAddr here, bool write) {
    return modified(*m.space, m.page()) != here && word_of(m) & (write ? granted_read : granted_write);
}

}  // namespace

bool settle(Space& space, VAddr page, bool write) {
    const Mapping* self = paging::mapping(space, page);
    // Pages of the kernel's are written by nobody; what is not cached has no copies.
    if (!self || word_of(*self) & attribute_bits) return false;
    VAddr here = modified(space, page);
    const Mapping* first = self;
    while (first->prev) first = first->prev;
    bool both = false;
    for (const Mapping* m = first; m; m = m->next) {
        // All that are granted are not cached: one more makes no difference.
        if (word_of(*m) & aliased) return true;
        both |= m->space == &space && conflicts(*m, here, write);
    }
    for (const Mapping* m = first; m; m = m->next) {
        Word word = word_of(*m);
        if (both && word & granted && m != self) change(*m->space, m->page(), word | aliased);
        if (!both && host::keeps_caches && conflicts(*m, here, write))
            change(*m->space, m->page(), word & ~(write ? granted : granted_write));
    }
    return both;
}

}  // namespace aliases
