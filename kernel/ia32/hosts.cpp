// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/hosts.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "ia32/cpu.hpp"
#include "ia32/page_tables.hpp"
#include "ia32/small_space.hpp"

namespace hosts {

Host kernel;
bool eager;
extern "C" Word revocations;
Word revocations = checks::counter_start;

namespace {

// The latest revoked ranges, as directory entries. A host that has missed more of them clears the whole area; so does
// one for which that is less work.
constexpr Word remembered = 32;
struct Range {
    std::uint16_t first, last;
} ranges[remembered];

constexpr Word length(Range range) { return range.last - range.first + 1u; }

Range entries_of(const Slot& slot) {
    return {static_cast<std::uint16_t>(slot.base >> 22), static_cast<std::uint16_t>((slot.base + slot.size - 1) >> 22)};
}

void clear(Host& host, Range range) {
    check(range.first <= range.last && range.last < KERNEL_BASE >> 22);
    check(range.first >= small_space::area_start() >> 22);
    auto& directory = *static_cast<PageTable*>(window(host.directory));
    for (Word i = range.first; i <= range.last; ++i) directory.entry[i] = 0;
}

// Called when the counter is half-way round: marks all hosts as having missed everything, so none has an old value of
// the count when that value comes again.
[[gnu::cold, gnu::noinline]] void age_all() {
    Word clean = revocations - remembered - 1;
    for (Space* s = spaces::all.front(); s; s = spaces::all.after(*s)) s->arch.own.clean = clean;
    kernel.clean = clean;
}

}  // namespace

void initialise() {
    kernel.directory = physical(&page_tables::kernel_directory());
    processor.host = &kernel;
}

void enter(Host& host) {
    check(host.directory && !(host.directory & page_mask));
    if (host.clean != revocations) clean_host(host);
    processor.host = &host;
    cpu::write_cr3(host.directory);
}

// Before the host is in force. That is early enough also for slots bound to it: entries are copied only into the host
// in force (copy_entry), which is clean. So a slot bound where an exclusive one was revoked neither finds the old copy
// nor loses its own here.
extern "C" void clean_host(Host& host) {
    const Range area{static_cast<std::uint16_t>(small_space::area_start() >> 22), (KERNEL_BASE >> 22) - 1};
    const Word first = host.clean;
    Word entries = 0;
    if (revocations - first <= remembered)
        for (Word i = first; i != revocations; ++i) entries += length(ranges[i % remembered]);
    if (entries && entries < length(area)) {
        for (Word i = first; i != revocations; ++i) clear(host, ranges[i % remembered]);
    } else {
        clear(host, area);
    }
    host.clean = revocations;
    check(&host == &kernel || !owner(&host)->arch.slot.small());
}

void clear_copies(Host& host, const Slot& slot) { clear(host, entries_of(slot)); }

void clear_all_copies(const Slot& slot) {
    clear_copies(*processor.host, slot);
    if (eager) {
        for (Space* s = spaces::all.front(); s; s = spaces::all.after(*s)) clear_copies(s->arch.own, slot);
        return clear_copies(kernel, slot);
    }
    ranges[revocations % remembered] = entries_of(slot);
    if (!(++revocations << 1)) age_all();
    processor.host->clean = revocations;
}

}  // namespace hosts
