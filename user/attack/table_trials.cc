// SPDX-License-Identifier: BSD-2-Clause
// The kernel's tables, which users may locate (sgdt, sidt); every selector that there is; system calls that name
// foreign addresses.
#include "trials.h"

#include <cobnut/tags.h>

namespace attack {
namespace {

/// The table's address is the kernel's: in the attacker's addresses that is its own page, or nothing.
template <const char *code> bool table(bool small, Report &r)
{
    if (!try_once(small, {.code = code, .esi = 0 - base_of(small)}, r)) return false;
    return small ? r.faults && r.fault_address + base_of(small) >= kernel_base && r.finished()
                 : r.protection() && !r.faults;
}

/// Of all selectors none names a segment that ends behind the attacker's space. Its own end where it does: if the
/// kernel has made it large meanwhile, behind the slot.
bool every_limit(bool small, Report &r)
{
    if (!try_once(small, {.code = trial_scan_limits, .ecx = end_of(small) - 1}, r) || !r.finished() || r.eax() == 0)
        return false;
    Attacker a(small);
    if (!a.ready()) return false;
    r = a.run({.code = trial_scan_limits, .ecx = end_of(small)});
    if (small && cobnut::tag_of(a.id()).size_mb == 0) return aimless(r);
    return r.finished() && r.eax() == 0;
}

template <const char *code, Word vector, Word error> bool stopped(bool small, Report &r)
{
    return try_once(small, {.code = code}, r) && r.exception && r.vector() == vector && r.error() == error && !r.faults;
}

/// Unmap with flush of 4 KB at an address: the victims have theirs afterwards (run_trials looks).
bool unmap_at(bool small, Word address, Report &r)
{
    const Word fpage = L4_FpageLog2(address & ~(page_size - 1), 12).raw | L4_FullyAccessible;
    return try_once(small, {.code = trial_unmap, .ebx = fpage}, r) && unharmed(r);
}
bool unmap_above(bool small, Report &r)
{
    const Word to = above_from(small);
    return to ? unmap_at(small, to, r) : aimless(r);
}
bool unmap_above_flat(bool small, Report &r)
{
    const Word base = stage.above_base();
    return base ? unmap_at(small, base + scratch_page, r) : aimless(r);
}
bool unmap_host(bool small, Report &r) { return unmap_at(small, host_page() - base_of(small), r); }
bool unmap_kernel(bool small, Report &r) { return unmap_at(small, kernel_text, r); }

} // namespace

const Trial table_trials[] = {
    {"table.read_gdt", table<trial_read_gdt>, true},
    {"table.write_gdt", table<trial_write_gdt>, true},
    {"table.write_idt", table<trial_write_idt>, true},
    {"table.every_limit", every_limit, false},
    {"gs.write_utcb_word", stopped<trial_write_utcb_word, 13, 0>, true},
    {"gs.read_past_utcb_word", stopped<trial_read_past_utcb_word, 13, 0>, true},
    {"icebp", stopped<trial_icebp, 1, 0>, false},
    {"into", stopped<trial_into, 13, 4 * 8 + 2>, false},
    {"unmap.above", unmap_above, false},
    {"unmap.above_flat", unmap_above_flat, false},
    {"unmap.host", unmap_host, false},
    {"unmap.kernel", unmap_kernel, false},
    {nullptr, nullptr, false},
};

} // namespace attack
