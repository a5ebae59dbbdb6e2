// SPDX-License-Identifier: BSD-2-Clause
// Faults of user threads. The processor reports the address of a failed data access, but not whether it was a write;
// for a failed fetch it reports only the address. So the instruction is decoded.
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "arm/layout.hpp"
#include "arm/page_tables.hpp"
#include "arm/trap.hpp"
#include "core/arch.hpp"
#include "core/ipc.hpp"
#include "core/mapping.hpp"

namespace faults {
namespace {

using page_tables::Touch;

// Fault status, bits 3..0 (ARM architecture manual, B3.6.1).
enum Status : Word {
    status_alignment = 1,
    status_alignment_too = 3,
    status_translation_section = 5,
    status_translation_page = 7,
    status_domain_section = 9,
    status_domain_page = 11,
    status_permission_section = 13,
    status_permission_page = 15,
};
constexpr Word status_mask = 0xf;

constexpr Word breakpoint_status = 2;           // a prefetch abort on a page that can be executed: BKPT

bool thumb(const Thread& t) { return t.frame.cpsr & STATE_THUMB; }

bool concerns_mapping(Word status) {
    switch (status & status_mask) {
    case status_translation_section:
    case status_translation_page:
    case status_domain_section:
    case status_domain_page:
    case status_permission_section:
    case status_permission_page: return true;
    default: return false;
    }
}

bool writes_arm(Word i) {
    constexpr Word load = 1u << 20;
    switch (i >> 25 & 7) {
    case 2:
    case 3:             // single
    case 4:             // multiple
    case 6:             // coprocessor
        return !(i & load);
    case 0: {           // swap, halfwords, doublewords
        Word operation = i >> 5 & 3;
        if (operation == 0) return true;
        return !(i & load) && operation != 2;
    }
    default: return false;
    }
}

bool writes_thumb(Word i) {
    constexpr Word load = 1u << 11;
    switch (i >> 12) {
    case 5: return (i >> 9 & 7) <= 2;
    case 6:
    case 7:
    case 8:
    case 9:
    case 12: return !(i & load);
    case 11: return (i & 0xfe00) == 0xb400;     // push
    default: return false;
    }
}

Word instruction_bytes(const Thread& t) { return thumb(t) ? 2 : 4; }

// Whether an address is in the space's own UTCBs, which are in no page table that pagers know.
bool in_own_utcbs(const Space& space, VAddr at) {
    using namespace page_tables;
    return in_utcb_areas(at) && at >> 20 == utcb_section(space) && utcb_page(space, at);
}

// The instruction at an address. Code can also run at relocated addresses of a space's memory, and in its UTCBs. 0 if
// no page is there.
Word instruction(const Thread& t, VAddr at) {
    Word i = 0;
    if (in_own_utcbs(*t.space, at)) {
        const void* place = reinterpret_cast<const void*>(at & ~(instruction_bytes(t) - 1));
        return thumb(t) ? *static_cast<const std::uint16_t*>(place) : *static_cast<const Word*>(place);
    }
    user_memory::read(*t.space, page_tables::original(*t.space, at), &i, instruction_bytes(t));
    return i;
}

bool writes(const Thread& t) {
    Word i = instruction(t, t.frame.pc);
    return thumb(t) ? writes_thumb(i) : writes_arm(i);
}

// What was granted may have been taken from many spaces. A fault that ends here finds it granted when it is repeated,
// and gets past this point: it makes progress however often interrupts come.
void after_grant() { arch::preemption_point(); }

// A fault for the pager, unless the space is sigma0.
void ask_pager(Thread& t, VAddr address, Word rights) {
    Space& space = *t.space;
    bool missing = !paging::get(space, address & ~page_mask).present;
    if (space.idempotent && missing && mappings::materialise(space, address)) return;
    ipc::page_fault(t, address, rights);
}

}  // namespace

void undefined(Thread& t) {
    t.frame.pc -= instruction_bytes(t);
    ipc::exception(t, exception_undefined, instruction(t, t.frame.pc));
}

void software_interrupt(Thread& t) {
    ipc::exception(t, exception_system_call, instruction(t, t.frame.pc - instruction_bytes(t)));
}

bool prefetch_abort(Thread& t) {
    VAddr address = page_tables::original(*t.space, t.frame.pc);
    if (in_own_utcbs(*t.space, address)) {
        ipc::exception(t, exception_abort, breakpoint_status);
        return false;
    }
    // If that was not all, the fetch faults again.
    if (host::refill(*t.space, address)) return true;
    switch (page_tables::touch(*t.space, address, false)) {
    case Touch::granted:
        after_grant();
        host::share(*t.space, address);
        return true;
    case Touch::nothing_new:
        if (host::share(*t.space, address)) return true;
        ipc::exception(t, exception_abort, breakpoint_status);
        return false;
    case Touch::denied: ask_pager(t, address, right_read | right_execute);
    }
    return false;
}

bool data_abort(Thread& t, VAddr address, Word status) {
    if (!concerns_mapping(status)) {
        ipc::exception(t, exception_abort, status & status_mask);
        return false;
    }
    address = page_tables::original(*t.space, address);
    // If that was not all, the access faults again.
    if (host::refill(*t.space, address)) return true;
    bool write = writes(t);
    Touch touch = page_tables::touch(*t.space, address, write);
    if (touch == Touch::granted) after_grant();
    if (touch != Touch::denied && host::share(*t.space, address)) return true;
    if (touch == Touch::granted) return true;
    // The access that the instruction seems to make is granted already: then it also writes.
    if (touch == Touch::nothing_new && !write) {
        write = true;
        touch = page_tables::touch(*t.space, address, write);
        if (touch == Touch::granted) {
            after_grant();
            host::share(*t.space, address);
            return true;
        }
    }
    ask_pager(t, address, write ? right_write : right_read);
    return false;
}

}  // namespace faults
