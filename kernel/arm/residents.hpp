// SPDX-License-Identifier: BSD-2-Clause
// Functions of residents.cpp for relocation.cpp and regions.cpp.
#pragma once

#include "core/space.hpp"

namespace host {

// The space is about to be relocated: removes all of it from caches, CPD and TLB. Grants are revoked when a section is
// needed again (page_tables::withdraw_moved).
void leave_sections(Space& space);

// The resident space whose entry the CPD holds for a section; nullptr: none, or a region's.
Space* holder_of(Word section);
// Whether a domain is free, for both to open. If not, takes some from their holders, but not from these.
bool domain_is_free(const Space& space, const Space& other);
// Replaces that entry by one with a domain of its own, of which one is free; `other` is its former owner. Returns the
// domain. The TLB has to be purged.
Word take_section(Word section, const Space& other, const CoarseTable& table);
// Undoes that: the entry is cleared, and no line cached. The TLB has to be purged: once after the last of several
// domains, or by release_domain().
void clear_section(Word section, Word domain);
// The domain is free.
void release_domain(Word domain);
void purge();
// Whether any space with this domain open has run since all caches were flushed.
bool dirty(Word domain);

}  // namespace host
