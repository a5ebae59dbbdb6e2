// SPDX-License-Identifier: BSD-2-Clause
// Shared regions: a megabyte that several spaces have at the same address, with the same pages in it. It gets a domain
// of its own, which all of them have open beside theirs, so that they share its entry of the CPD, a second-level table
// and what the TLB knows of it (W03 3.2). The table grants what all of them have been granted.
//
// Regions come into being where two spaces collide that could share, and go when one of them wants something else
// there.
#pragma once

#include "core/space.hpp"

namespace regions {

// Whether the section is a region and the space has part in it.
bool shares(const Space& space, Word section);
// The space needs a section where another's entry stands: true if the two share it from now on.
bool join(Space& space, Word section);
// The space may access a page and has faulted there: if all who share it may do the same, it is granted to them, too;
// else the space leaves the region. False if the page is in none, or granted already.
bool share(Space& space, VAddr page);
// Some of a space's own entries have changed.
void entries_changed(Space& space, VAddr page, Word count);

// For the kernel's audit: whether the space has part in those regions that have it as a member, and none of their
// tables grants more than its own; and what stands in the first level for a region's domain, 0 if there is no such
// region.
bool agree(const Space& space);
Word entry_of(Word section, Word domain);

// Whether the caches may have lines of the section through others than the space.
bool may_have_lines(Word section);
// The space has part in no region any more.
void leave_all(Space& space);
// The section is wanted for something else, or the domain has been taken away: then the TLB has to be purged. What is
// cached has been flushed, if there was a region.
void dissolve_section(Word section);
void dissolve_domain(Word domain);

}  // namespace regions
