// SPDX-License-Identifier: BSD-2-Clause
// Kernel memory: page frames set aside at boot, and pools of equal objects carved from them. Both answer nullptr when
// nothing is left; every caller turns that into an error of the system call at hand.
#pragma once

#include "core/x2.hpp"

namespace memory {

// Adds the frames of [first, last] (bytes, inclusive; only whole pages count) to the pool.
void add(PAddr first, PAddr last);
// One zeroed page frame, by its address in the kernel's window on physical memory.
void* allocate_page();
void free_page(void* page);
// The same for a page that a pool takes and keeps.
void* allocate_pool_page();
Word pages_total();
// Pages that were allocated and not freed; those of pools do not count.
Word pages_in_use();
// Pages that neither those nor pools have.
Word pages_unused();

// Objects of one size, never given back as pages: the kernel's working set of threads and mappings seldom shrinks.
class Pool {
public:
    constexpr explicit Pool(Word object_size, Word first_offset = 0) : size_(object_size), first_(first_offset) {}
    // Zeroed.
    void* allocate();
    void free(void* object);
    Word in_use() const { return in_use_; }

private:
    struct Free {
        Free* next;
    };
    Word size_;
    Word first_;
    Free* free_ = nullptr;
    Word in_use_ = 0;
};

}  // namespace memory
