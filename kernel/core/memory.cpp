// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory.hpp"

#include "arch/paging.hpp"
#include "core/string.hpp"

namespace memory {
namespace {

struct FreePage {
    FreePage* next;
};

FreePage* first;
Word total;

}  // namespace

void add(PAddr begin, PAddr last) {
    PAddr page = (begin + page_mask) & ~page_mask;
    for (PAddr end = (last + 1) & ~page_mask; page < end; page += page_size) {
        free_page(window(page));
        total += 1;
    }
}

void* allocate_page() {
    FreePage* page = first;
    if (!page) return nullptr;
    first = page->next;
    fill_zero(page, page_size);
    return page;
}

void free_page(void* page) {
    auto* p = static_cast<FreePage*>(page);
    p->next = first;
    first = p;
}

Word pages_total() { return total; }

}  // namespace memory
