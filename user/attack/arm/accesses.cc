// SPDX-License-Identifier: BSD-2-Clause
// Every kind of access to everything that is not the attacker's own.
#include "stage.h"

#include <cobnut/format.h>

extern "C" const unsigned char attempt_load[], attempt_load_byte[], attempt_load_half[], attempt_load_signed[],
    attempt_load_multiple[], attempt_load_translated[], attempt_swap[], attempt_swap_byte[], attempt_store[],
    attempt_store_byte[], attempt_store_half[], attempt_store_multiple[], attempt_store_translated[], attempt_jump[],
    attempt_load_pc_behind[], attempt_load_across[], attempt_write_utcb_word[], attempt_load_double[],
    attempt_store_double[], attempt_load_user_registers[], attempt_store_user_registers[], attempt_load_below[],
    attempt_store_below[], attempt_load_above[], attempt_load_unaligned[], attempt_store_unaligned[],
    attempt_swap_unaligned[], attempt_store_across[], attempt_thumb_load[], attempt_thumb_store[], attempt_thumb_push[],
    attempt_thumb_pop_pc[];

namespace attack {
namespace {

constexpr Word sigma0_offset = 0x200000;
constexpr Word slots = 63; // of 32 MB below 2 GB, the first one aside

struct Access {
    const char *name;
    const unsigned char *code;
    bool optional = false; ///< an older core does not know it
    int reach = 0;         ///< from the target to what is accessed
};
constexpr Access accesses[] = {
    {"load", attempt_load},
    {"load_byte", attempt_load_byte},
    {"load_half", attempt_load_half},
    {"load_signed", attempt_load_signed},
    {"load_multiple", attempt_load_multiple},
    {"load_translated", attempt_load_translated},
    {"load_pc", attempt_load_pc_behind},
    {"swap", attempt_swap},
    {"swap_byte", attempt_swap_byte},
    {"store", attempt_store},
    {"store_byte", attempt_store_byte},
    {"store_half", attempt_store_half},
    {"store_multiple", attempt_store_multiple},
    {"store_translated", attempt_store_translated},
    {"jump", attempt_jump},
    {"load_double", attempt_load_double, true},
    {"store_double", attempt_store_double, true},
    {"load_user_registers", attempt_load_user_registers, true},
    {"store_user_registers", attempt_store_user_registers, true},
    {"load_below", attempt_load_below, false, -4},
    {"store_below", attempt_store_below, false, -4},
    {"load_above", attempt_load_above, false, 4},
    {"thumb_load", attempt_thumb_load, true},
    {"thumb_store", attempt_thumb_store, true},
    {"thumb_push", attempt_thumb_push, true, -4},
    {"thumb_pop_pc", attempt_thumb_pop_pc, true},
};

/// The instruction did what it does: in memory of the attacker's own.
bool came_through(const Report &r)
{
    if (r.software_interrupt(own_word)) return true;              // it was executed
    if (r.fault && (r.address & ~3u) == (own_word & ~3u)) return true; // it was taken for an address to go on at
    return r.finished() || r.software_interrupt(0xDF5A);
}

/// Where a space's page is after relocation, if it has a slot; otherwise in the first one.
Word relocated(const Space &space)
{
    const Word slot = space.slot();
    return (slot ? slot : 1) * slot_bytes + space.own_page();
}

void run_access(const Access &access, const char *where, Word target)
{
    char name[64];
    cobnut::format(name, sizeof name, "%s.%s", access.name, where);
    const Report r = attempt(access.code, target);
    // A space's slot is another name of its own memory below 32 MB (docs/x2-arm.md).
    const Word address = target + access.reach;
    const bool other_name = r.slot && address / slot_bytes == r.slot;
    const bool own = other_name && (came_through(r) || (r.fault && r.address == address % slot_bytes));
    const bool unknown = access.optional && r.undefined();
    row(name, (r.fault && r.address == address) || r.aborted() || own || unknown, r);
}

} // namespace

void run_accesses(const char *only)
{
    const struct {
        const char *name;
        Word address;
    } targets[] = {
        {"alike_relocated", relocated(stage.alike)},
        {"beyond", stage.beyond.own_page()},
        {"apart", stage.apart.own_page()},
        {"alikes_utcb", stage.alike.utcb + page_size / 2},
        {"aparts_utcb", stage.apart.utcb + page_size / 2},
        {"controllers_memory", reinterpret_cast<Word>(stage.apart.page)},
        {"sigma0s_memory", COBNUT_RAM_BASE + sigma0_offset},
        {"window", window + 2 * sigma0_offset},
        {"devices", devices},
        {"kernel", image + 0x10100},
        {"vectors", 0xFFFF0000},
    };
    for (const Access &access : accesses) {
        if (!wanted(access.name, only)) continue;
        const Report inside = attempt(access.code, alike + page_offset + 64);
        if (!came_through(inside) && !(access.optional && inside.undefined())) {
            blind(access.name, inside);
            continue;
        }
        for (const auto &target : targets) run_access(access, target.name, target.address);
    }
    char where[16];
    for (Word slot = 1; slot <= slots && wanted("load", only); slot++) {
        cobnut::format(where, sizeof where, "slot_%u", slot);
        run_access(accesses[0], where, slot * slot_bytes + alike + page_offset);
    }
    if (wanted("load_across", only)) {
        const Word behind = alike + page_offset + page_size;
        const Report r = attempt(attempt_load_across, behind);
        row("load_across.own_page", r.fault && r.address == behind, r);
    }
    const struct {
        const char *name;
        const unsigned char *code;
        Word target, fault; ///< 0: no fault, it is not aligned
    } edges[] = {
        {"load_across.interface_page", attempt_load_across, alike + kip_offset + page_size,
         alike + kip_offset + page_size},
        {"store_across.own_page", attempt_store_across, alike + page_offset + page_size + 4,
         alike + page_offset + page_size},
        {"store_across.interface_page", attempt_store_across, alike + kip_offset + page_size,
         alike + kip_offset + page_size - 8},
        {"store.interface_page", attempt_store, alike + kip_offset, alike + kip_offset},
        {"load_below.zero", attempt_load_below, 0, 0xFFFFFFFC},
        {"store_below.zero", attempt_store_below, 0, 0xFFFFFFFC},
        {"load_multiple.wraps", attempt_load_multiple, 0xFFFFFFFC, 0xFFFFFFFC},
        {"load_above.wraps", attempt_load_above, 0xFFFFFFFC, 0},
        {"load_unaligned.own_end", attempt_load_unaligned, alike + page_offset + page_size, 0},
        {"store_unaligned.own_end", attempt_store_unaligned, alike + page_offset + page_size, 0},
        {"load_unaligned.kernel", attempt_load_unaligned, utcb_areas, 0},
        {"swap_unaligned.apart", attempt_swap_unaligned, stage.apart.own_page() + 2, 0},
        {"swap_unaligned.kernel", attempt_swap_unaligned, image + 0x10102, 0},
    };
    for (const auto &edge : edges) {
        if (!wanted(edge.name, only)) continue;
        const Report r = attempt(edge.code, edge.target);
        row(edge.name, (r.fault && r.address == edge.fault) || (!edge.fault && r.aborted()), r);
    }
    if (wanted("store", only)) {
        const Report r = attempt(attempt_write_utcb_word, 0);
        row("store.utcb_word", r.fault && r.address == utcb_word && (r.rights & L4_Writable), r);
    }
}

} // namespace attack
