// SPDX-License-Identifier: BSD-2-Clause
// The port that the unit tests run on: page tables are maps, kernel memory is the host's, and can be made to run out.
#include "fake_port.hpp"

#include <cstdio>
#include <cstdlib>

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/memory.hpp"
#include "core/space.hpp"

Word ready_top;

void checks::failed(const char* condition, const char* file, Word line) {
    std::fprintf(stderr, "check failed: %s at %s:%u\n", condition, file, line);
    std::abort();
}

namespace fake {
int pages_left = -1;
Word pages_total = 1 << 12;
Word sizes_asked, splits;
}

namespace arch {

Microseconds now() { return 1995; }

void leave_fast_frame(Thread& t) { t.fast_entry = true; }

}  // namespace arch

namespace memory {

void* allocate_pool_page() {
    if (fake::pages_left == 0) return nullptr;
    if (fake::pages_left > 0) --fake::pages_left;
    return std::aligned_alloc(page_size, page_size);
}

Word pages_total() { return fake::pages_total; }

Word pages_unused() { return fake::pages_left < 0 ? Word{1} << 20 : static_cast<Word>(fake::pages_left); }

void free_pool_page(void* page) {
    if (fake::pages_left >= 0) ++fake::pages_left;
    std::free(page);
}

}  // namespace memory

namespace spaces {

bool kernel_area(const Space& space, VAddr first, VAddr last) {
    return !space.kip_area.is_nil() && last >= space.kip_area.base() && first <= space.kip_area.last();
}

}  // namespace spaces

namespace paging {
namespace {
void demand(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "the shared code calls %s\n", what);
    std::abort();
}

ArchSpace::Entry look(const Space& s, VAddr page) {
    auto i = s.arch.pages.find(page);
    return i == s.arch.pages.end() ? ArchSpace::Entry{} : i->second;
}

VAddr first_of(const Space& s, VAddr page) { return page & ~((1u << look(s, page).log2) - 1); }

// Each 4 KB part of the page.
template <typename F> void each(Space& s, VAddr page, unsigned log2, F&& change) {
    demand(!(page & ((1u << log2) - 1)), "with a page that is not aligned");
    for (VAddr end = page + (1u << log2); page != end; page += page_size) change(s.arch.pages[page]);
}
}  // namespace

unsigned log2_of(const Space& space, VAddr page) {
    ++fake::sizes_asked;
    return look(space, page).log2;
}
void split(Space& space, VAddr page, unsigned log2) {
    ++fake::splits;
    each(space, page, log2_of(space, page), [=](ArchSpace::Entry& e) {
        demand(log2 < e.log2, "split() for no smaller size");
        e.log2 = log2;
    });
}
bool of_one_kind(PAddr, unsigned) { return true; }

Page get(const Space& space, VAddr page) {
    auto e = look(space, page);
    return {e.present, e.writable, e.frame, e.attribute};
}
VAddr skip_unmapped(const Space& space, VAddr from, VAddr last) {
    auto i = space.arch.pages.lower_bound(from & ~VAddr{0x3fffff});
    if (i == space.arch.pages.end() || i->first > last) return last + 1;
    return std::max(from, i->first & ~VAddr{0x3fffff});
}
bool next_mapped(const Space& space, VAddr& from, VAddr last) {
    auto i = space.arch.pages.lower_bound(from);
    while (i != space.arch.pages.end() && !look(space, first_of(space, i->first)).mapping) ++i;
    if (i == space.arch.pages.end() || i->first > last || i->first >= user_limit()) return false;
    from = i->first;
    return true;
}
bool ensure_table(Space& space, VAddr page) {
    space.arch.pages.try_emplace(page);
    return true;
}
void set(Space& space, VAddr page, PAddr frame, bool writable, Word attribute, unsigned log2) {
    each(space, page, log2, [&](ArchSpace::Entry& e) {
        demand(!e.present, "set() over a present page");
        e = {true, writable, frame, 0, e.mapping, attribute, log2};
        frame += page_size;
    });
}
void set_attribute(Space& space, VAddr page, Word attribute) {
    demand(look(space, page).present, "set_attribute() of an absent page");
    page = first_of(space, page);
    each(space, page, log2_of(space, page), [=](ArchSpace::Entry& e) { e.attribute = attribute; });
}
void allow_write(Space& space, VAddr page) {
    each(space, page, log2_of(space, page), [](ArchSpace::Entry& e) { e.writable = true; });
}
Word clear(Space& space, VAddr page) {
    Word status = 0;
    each(space, page, log2_of(space, page), [&](ArchSpace::Entry& e) {
        demand(e.present, "clear() of an absent page");
        e.present = false;
        e.log2 = page_log2;
        status |= e.status;
    });
    return status;
}
Word take_status(Space& space, VAddr page, bool no_write) {
    Word status = 0;
    each(space, page, log2_of(space, page), [&](ArchSpace::Entry& e) {
        status |= e.status;
        e.status = 0;
        if (no_write) e.writable = false;
    });
    return status;
}
bool row(Space& space, VAddr page, bool may_write, Row& row) {
    auto i = space.arch.pages.lower_bound(page & ~(row_bytes - 1));
    if (i == space.arch.pages.end() || i->first > (page | (row_bytes - 1))) return false;
    row = {&space.arch.pages, page, may_write};
    return true;
}
Mapping* node(Space& space, VAddr page) { return get(space, page).present ? mapping(space, page) : nullptr; }

Mapping*& mapping(Space& space, VAddr page) { return space.arch.pages[first_of(space, page)].mapping; }
VAddr user_limit() { return 0xc0000000; }
bool kernel_frame(PAddr frame) { return frame >= 0x100000 && frame < 0x200000; }

}  // namespace paging
