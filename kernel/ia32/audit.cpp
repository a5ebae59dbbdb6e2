// SPDX-License-Identifier: BSD-2-Clause
// For the kernel's audit (core/books.cpp): compares descriptors, directories and host tables with the spaces' slots.
#include "core/arch.hpp"
#include "ia32/cpu.hpp"
#include "ia32/hosts.hpp"
#include "ia32/page_tables.hpp"
#include "ia32/segments.hpp"
#include "ia32/small_space.hpp"

namespace arch {
namespace {

constexpr unsigned table_log2 = 22;

// The table that a host's copy of a directory entry must lead to; 0: no slot is there. All slots that share a table
// have the same.
PAddr table_behind(const Host& host, Word index) {
    for (const Space* s = spaces::all.front(); s; s = spaces::all.after(*s)) {
        const Slot& slot = s->arch.slot;
        Word first = slot.base >> table_log2;
        if (!slot.small() || (s->arch.slots.leader && &s->arch.slots.leader->arch.own != &host)) continue;
        if (index < first || index > (slot.base + slot.size - 1) >> table_log2) continue;
        if (slot.shares_table()) return physical(s->arch.shared_table);
        return page_tables::frame_of(s->arch.directory->entry[index - first]);
    }
    return 0;
}

// False while the host has copies of revoked slots that are still to be cleared.
bool copies_are_current(const Host& host) {
    if (host.clean != hosts::revocations) return true;
    const auto& directory = *static_cast<const PageTable*>(window(host.directory));
    for (Word i = small_space::area_start() >> table_log2; i < KERNEL_BASE >> table_log2; ++i)
        if (directory.entry[i] && page_tables::frame_of(directory.entry[i]) != table_behind(host, i)) return false;
    return true;
}

bool host_is_right(const Space& space, bool runs) {
    const ArchSpace& s = space.arch;
    const Host* host = space.arch.slots.leader ? &space.arch.slots.leader->arch.own : s.slot.small() ? nullptr : &s.own;
    if (space.arch.slots.leader && space.arch.slots.leader->arch.slot.small()) return false;
    return s.host == host && s.free_switches <= (host ? 0 : ArchSpace::budget) &&
           (!runs || !host || processor.host == host);
}

bool segments_are_right(const Space& space, bool runs) {
    static constexpr std::uint8_t held[] = {USER_CODE >> 3, USER_DATA >> 3, USER_TLS >> 3};
    segments::Extent reach = segments::reach(space);
    bool right = segments::within({space.arch.segment_low, space.arch.segment_high}, reach);
    for (Word i : held) right &= !runs || segments::within(gdt.entry[i], reach);
    return right;
}

}  // namespace

const char* disagreement(const Space& space) {
    const Thread* t = current_thread();
    bool runs = t && t->space == &space;
    if (!segments_are_right(space, runs)) return "a segment reaches past its space";
    if (!host_is_right(space, runs)) return "a space is in a wrong host";
    if (!copies_are_current(space.arch.own) || !copies_are_current(hosts::kernel)) return "a host has stale copies";
    return nullptr;
}

}  // namespace arch
