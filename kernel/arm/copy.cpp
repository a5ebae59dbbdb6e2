// SPDX-License-Identifier: BSD-2-Clause
// Access to users' frames: through the window on physical memory and the like, which are not cached for them. Lines
// that the data cache has for a user's own address are written back first.
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "arm/page_tables.hpp"
#include "arm/trap.hpp"
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/string_transfer.hpp"

namespace arch {

// Other addresses of the frame have no dirty lines: only one address may be writable at a time (aliases.hpp).
void about_to_copy(Space& space, VAddr at, Word bytes) { host::drop_lines(space, at, bytes); }

void copy(PAddr to, PAddr from, Word bytes) {
    check((to & page_mask) + bytes <= page_size && (from & page_mask) + bytes <= page_size);
    if (!copy_if_there(page_tables::view(to, 0), page_tables::view(from, 1), bytes)) {
        strings::abort(*processor.current);
        leave_to_user();
    }
    cpu::drain_write_buffer();          // it may be code
}

void after_tick() {}

// A pending interrupt is taken at once.
void preemption_point() {
    Word state;
    asm volatile("mrs %0, cpsr\n\tbic %0, %0, %1\n\tmsr cpsr_c, %0\n\tnop\n\torr %0, %0, %1\n\tmsr cpsr_c, %0"
        : "=&r"(state)
        : "i"(MASK_IRQ)
        : "memory");
}

}  // namespace arch

namespace user_memory {

// Written bytes of a page that the space can read are in the caches by the space's own address, if at all
// (aliases.hpp).
Word read(Space& space, VAddr from, void* to, Word bytes) {
    Word done = 0;
    while (done < bytes) {
        PAddr frame = from < USER_LIMIT ? paging::access<false>(space, from) : paging::no_frame;
        if (frame == paging::no_frame) break;
        Word offset = from & page_mask, n = page_size - offset;
        if (n > bytes - done) n = bytes - done;
        page_tables::clean_lines(space, from, n);
        const char* place = static_cast<char*>(page_tables::view(frame, 0)) + offset;
        if (!copy_if_there(static_cast<char*>(to) + done, place, n)) break;
        done += n, from += n;
    }
    return done;
}

}  // namespace user_memory
