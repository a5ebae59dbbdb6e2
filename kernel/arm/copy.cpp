// SPDX-License-Identifier: BSD-2-Clause
// Access to users' frames: through the window on physical memory, which caches nothing of them. What a user's own addresses
// have in the data cache goes to memory first.
#include "arm/caches.hpp"
#include "arm/trap.hpp"
#include "core/arch.hpp"
#include "core/string.hpp"

namespace arch {

void copy(PAddr to, PAddr from, Word bytes) {
    caches::clean_and_invalidate_data();
    memcpy(window(to), window(from), bytes);
}

// What is pending is taken at once.
void preemption_point() {
    Word state;
    asm volatile("mrs %0, cpsr\n\tbic %0, %0, %1\n\tmsr cpsr_c, %0\n\tnop\n\torr %0, %0, %1\n\tmsr cpsr_c, %0"
                 : "=&r"(state) : "i"(MASK_IRQ) : "memory");
}

}  // namespace arch

namespace user_memory {

Word read(const Space& space, VAddr from, void* to, Word bytes) {
    Word done = 0;
    caches::clean_and_invalidate_data();
    while (done < bytes) {
        paging::Page page = paging::get(space, from & ~page_mask);
        if (!page.present) break;
        Word n = page_size - (from & page_mask);
        if (n > bytes - done) n = bytes - done;
        memcpy(static_cast<char*>(to) + done, static_cast<char*>(window(page.frame)) + (from & page_mask), n);
        done += n, from += n;
    }
    return done;
}

}  // namespace user_memory
