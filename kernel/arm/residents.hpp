// SPDX-License-Identifier: BSD-2-Clause
// What relocation.cpp and regions.cpp need of residents.cpp.
#pragma once

#include "core/space.hpp"

namespace host {

// The space's addresses are about to be moved: caches, CPD and TLB have nothing of it any more. What has been granted
// is taken back when a section is needed again (page_tables::withdraw_moved).
void leave_sections(Space& space);

// The resident space whose entry stands in the CPD for a section; nullptr: nobody's, or a region's.
Space* holder_of(Word section);
// Replaces that entry by one with a domain of its own, for `space` and `other`, which had it. Returns the domain. The
// TLB has to be purged.
Word take_section(Word section, const Space& space, const Space& other, const CoarseTable& table);
// Undoes that: nothing stands there any more, nothing is cached. The TLB has to be purged: after the last of several
// domains that have been taken away, else by release_domain().
void clear_section(Word section, Word domain);
// The domain is free.
void release_domain(Word domain);
void purge();
// Whether any space with this domain open has run since all caches were flushed.
bool dirty(Word domain);

}  // namespace host
