// SPDX-License-Identifier: BSD-2-Clause
#include "core/space.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/mapping.hpp"
#include "core/memory.hpp"
#include "core/trace.hpp"

namespace spaces {

List<Space, &Space::all_link> all;

namespace {

List<Space, &Space::dying_link> dying;
VAddr unmapped;         // the address up to which the first of them has been unmapped

// No area is the complete space, and nil is 0.
[[gnu::noinline]] bool overlaps(Fpage area, VAddr first, VAddr last) {
    Word offset = (1u << area.size_field()) - 1;
    return area.raw && (area.raw & ~offset) <= last && first <= (area.raw | offset);
}

}  // namespace

Space* leaving() {
    Space* space = dying.front();
    return space && !space->all_link.queued() ? space : nullptr;
}

Space* create() {
    Space* space = arch::allocate_space();
    if (!space) return nullptr;
    if (!arch::create_space(*space)) {
        arch::free_space(*space);
        return nullptr;
    }
    space->redirector = ThreadId::any();
    all.push_back(*space);
    memory::accounts += 1;
    return space;
}

void destroy(Space& space) {
    check(space.members.empty());
    trace::event(trace::Event::space_deleted, ThreadId::nil(), trace::name(&space));
    dying.push_back(space);
}

bool bury(Word budget) {
    Space* space = dying.front();
    if (!space) return true;
    Word status = 0;
    mappings::Sweep none{};         // never queued: everything is removed
    Word left = budget;
    if (!mappings::unmap(*space, Fpage::complete().with_rights(rights_all), true, unmapped, status, none, left) ||
        left != budget)
        return false;
    if (space->all_link.queued()) {
        if (arch::leave_all(*space)) all.remove(*space);
        return false;
    }
    check(space->members.empty());
    if (!arch::destroy_space(*space)) return false;
    dying.remove(*space);
    memory::accounts -= 1;
    arch::free_space(*space);
    unmapped = 0;
    return dying.empty();
}

void veto_fast_path(Thread& t) {
    t.fast_veto = (t.fast_veto & ~Word{veto_redirected}) | (t.space->redirected() ? veto_redirected : 0u);
}

void join(Space& space, Thread& t) {
    t.space = &space;
    space.members.push_back(t);
    if (t.utcb) space.areas_fixed = true;
    veto_fast_path(t);
}

void leave(Thread& t) { t.space->members.remove(t); }

bool valid_utcb(const Space& space, VAddr utcb_address) {
    VAddr location = utcb_address - Utcb::id_offset;
    return location % Utcb::size == 0 && overlaps(space.utcb_area, location, location);
}

bool kernel_area(const Space& space, VAddr first, VAddr last) {
    return overlaps(space.utcb_area, first, last) || overlaps(space.kip_area, first, last);
}

Utcb* make_utcb(Space& space, VAddr utcb_address) {
    check(valid_utcb(space, utcb_address));
    VAddr page = utcb_address & ~page_mask;
    auto* memory = static_cast<char*>(arch::kernel_page(space, page));
    if (!memory) {
        memory = static_cast<char*>(memory::allocate_page(space.account));
        if (!memory) return nullptr;
        if (!arch::map_kernel_page(space, page, memory, true)) {
            memory::free_page(memory, space.account);
            return nullptr;
        }
        // by that address, for virtual caches, from now on
        memory = static_cast<char*>(arch::kernel_page(space, page));
    }
    return reinterpret_cast<Utcb*>(memory + (utcb_address & page_mask) - Utcb::id_offset);
}

}  // namespace spaces
