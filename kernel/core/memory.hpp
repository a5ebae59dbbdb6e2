// SPDX-License-Identifier: BSD-2-Clause
// Kernel memory: page frames reserved at boot, and pools of equal objects carved from them. Both return nullptr when
// nothing is left, or when the account that pays may take no more; every caller turns that into an error of its system
// call.
#pragma once

#include "core/account.hpp"
#include "core/list.hpp"
#include "core/x2.hpp"

namespace memory {

// Adds the frames of [first, last] (bytes, inclusive; only whole pages count) to the pool.
void add(PAddr first, PAddr last);
// One zeroed page frame, by its address in the kernel's window on physical memory.
void* allocate_page(Account& payer);
void free_page(void* page, Account& payer);
// The same for one that is zeroed, and need not be again.
void free_zeroed_page(void* page, Account& payer);
// The same for a pool's pages, which are not zeroed: its objects are, one by one.
void* allocate_pool_page();
void free_pool_page(void* page);
Word pages_total();
// Pages that are allocated, those of pools not included.
Word pages_in_use();
// Free pages.
Word pages_unused();
// The sum of all charges, in bytes: those pages, and the objects in pools.
Word bytes_charged();

// Of all objects in pools.
extern Word pool_bytes;

// Objects of one size. A page whose objects are all free is given back, except one: a program that maps and unmaps a
// few pages in turn does not have a page of nodes made each time.
class Pool {
public:
    // In each block of a page, the first object begins at an offset, and the last one ends in it.
    constexpr explicit Pool(Word object_size, Word first_offset = 0, Word block = page_size)
        : size_(object_size), first_(first_offset), block_(block) {}
    // Zeroed.
    void* allocate(Account& payer);
    void free(void* object, Account& payer);
    // The same for callers that make the charge themselves.
    void* allocate();
    // Not zeroed, either.
    void* take();
    void free(void* object);
    Word in_use() const { return in_use_; }

private:
    struct Free {
        Free* next;
    };
    // At the end of each page.
    struct Page {
        Link<Page> link;        // among those that have a free object
        Free* free;
        Word used;
    };
    Page* new_page();
    static Page& page_of(void* object);

    Word size_;
    Word first_;
    Word block_;
    List<Page, &Page::link> pages_;     // with free objects
    Page* kept_ = nullptr;              // among them: one with nothing else
    Word in_use_ = 0;
};

}  // namespace memory
