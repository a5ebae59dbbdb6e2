// SPDX-License-Identifier: BSD-2-Clause
// Shared regions: a megabyte that several spaces have at the same address, with the same pages in it. It gets a domain
// of its own, which all of them have open beside theirs, so that they share its entry in the CPD, a second-level table
// and the TLB's entries (W03 3.2). The table grants what all of them have been granted.
//
// Regions are made when two spaces that could share collide, and are dissolved when one of them needs something else
// there.
#pragma once

#include "core/space.hpp"

namespace regions {

// Whether the section is a region that the space is a member of.
bool shares(const Space& space, Word section);
// The space needs a section where another's entry stands: true if the two share it from now on.
bool join(Space& space, Word section);
// The space has faulted at a page that it may access: if all members may do the same it is granted to them, too; else
// the space leaves the region. False if the page is in no region, or granted already.
bool share(Space& space, VAddr page);
// Some of a space's own entries have changed.
void entries_changed(Space& space, VAddr page, Word count);

// For the kernel's audit: whether the space is a member of those regions that list it, and none of their tables grants
// more than its own; and the first-level entry of a region's domain, 0 if there is no such region.
bool agree(const Space& space);
Word entry_of(Word section, Word domain);

// Whether the caches may have lines of the section for other spaces.
bool may_have_lines(Word section);
// The space leaves all regions.
void leave_all(Space& space);
// The section is needed for something else, or the domain has been revoked: then the TLB has to be purged. If there
// was a region its lines have been flushed.
void dissolve_section(Word section);
void dissolve_domain(Word domain);

}  // namespace regions
