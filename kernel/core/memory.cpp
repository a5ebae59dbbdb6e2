// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory.hpp"

#include "arch/paging.hpp"
#include "core/check.hpp"
#include "core/string.hpp"

namespace memory {
namespace {

struct FreePage {
    FreePage* next;
    FreePage* dirty;    // the page itself; null: so is all that follows
};

FreePage* first;
Word total, unused, in_use;

}  // namespace

void add(PAddr begin, PAddr last) {
    PAddr page = (begin + page_mask) & ~page_mask;
    for (PAddr end = (last + 1) & ~page_mask; page < end; page += page_size) {
        free_pool_page(window(page));
        total += 1;
    }
}

void* allocate_pool_page() {
    FreePage* page = first;
    if (!page) return nullptr;
    check(unused && !(reinterpret_cast<std::uintptr_t>(page) & page_mask));
    first = page->next;
    unused -= 1;
    return page;
}

void* allocate_page(Account& payer) {
    if (!payer.charge(page_size)) return nullptr;
    void* page = allocate_pool_page();
    if (!page) return payer.credit(page_size), nullptr;
    in_use += 1;
    auto* p = static_cast<FreePage*>(page);
    if (p->dirty) fill_zero(page, page_size);
    p->next = nullptr;
    return page;
}

void free_pool_page(void* page) {
    check(page && page != first && !(reinterpret_cast<std::uintptr_t>(page) & page_mask));
    check(unused <= total);
    auto* p = static_cast<FreePage*>(page);
    p->next = first;
    p->dirty = p;
    first = p;
    unused += 1;
}

void free_page(void* page, Account& payer) {
    check(in_use);
    payer.credit(page_size);
    in_use -= 1;
    free_pool_page(page);
}

void free_zeroed_page(void* page, Account& payer) {
    if constexpr (checks::on)
        for (Word at = 0; at < page_size; at += sizeof(Word))
            check(!*reinterpret_cast<Word*>(static_cast<char*>(page) + at));
    free_page(page, payer);
    static_cast<FreePage*>(page)->dirty = nullptr;
}

Word pages_total() { return total; }

Word pages_in_use() { return in_use; }

Word pages_unused() { return unused; }

Word bytes_charged() { return in_use * page_size + pool_bytes; }

}  // namespace memory
