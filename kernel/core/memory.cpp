// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory.hpp"

#include "arch/paging.hpp"
#include "core/string.hpp"

namespace memory {
namespace {

struct FreePage {
    FreePage* next;
};

// Freed pages, and the stretch that was never used: it can still give out several pages in a row.
FreePage* freed;
PAddr fresh_next;
PAddr fresh_end;
Word free_count;
Word total_count;

void* fresh(Word pages) {
    if (fresh_end - fresh_next < pages * page_size) return nullptr;
    void* p = window(fresh_next);
    fresh_next += pages * page_size;
    return p;
}

}  // namespace

void add(PAddr first, PAddr last) {
    PAddr begin = (first + page_mask) & ~page_mask;
    PAddr end = (last + 1) & ~page_mask;
    if (end <= begin) return;
    Word pages = (end - begin) / page_size;
    free_count += pages;
    total_count += pages;
    if (end - begin > fresh_end - fresh_next) {
        PAddr old_next = fresh_next, old_end = fresh_end;
        fresh_next = begin, fresh_end = end;
        begin = old_next, end = old_end;
    }
    for (; begin != end; begin += page_size) {
        auto* page = static_cast<FreePage*>(window(begin));
        page->next = freed;
        freed = page;
    }
}

void* allocate_page() {
    void* page = freed;
    if (page)
        freed = freed->next;
    else
        page = fresh(1);
    if (!page) return nullptr;
    free_count -= 1;
    fill_zero(page, page_size);
    return page;
}

void free_page(void* page) {
    auto* p = static_cast<FreePage*>(page);
    p->next = freed;
    freed = p;
    free_count += 1;
}

void* allocate_pages(Word pages) {
    void* p = fresh(pages);
    if (!p) return nullptr;
    free_count -= pages;
    fill_zero(p, pages * page_size);
    return p;
}

Word pages_free() { return free_count; }
Word pages_total() { return total_count; }

}  // namespace memory
