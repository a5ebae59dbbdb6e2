// SPDX-License-Identifier: BSD-2-Clause
// Every kind of access to everything that is not the attacker's own.
#include "stage.h"

#include <cobnut/format.h>

extern "C" const unsigned char attempt_load[], attempt_load_byte[], attempt_load_half[], attempt_load_signed[], attempt_load_multiple[],
    attempt_load_translated[], attempt_swap[], attempt_swap_byte[], attempt_store[], attempt_store_byte[], attempt_store_half[],
    attempt_store_multiple[], attempt_store_translated[], attempt_jump[], attempt_load_pc_behind[], attempt_load_across[],
    attempt_write_utcb_word[];

namespace attack {
namespace {

constexpr Word sigma0_offset = 0x200000;
constexpr Word slots = 63; // of 32 MB below 2 GB, the first one aside

struct Access {
    const char *name;
    const unsigned char *code;
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
};

/// The instruction did what it does: in memory of the attacker's own.
bool came_through(const Report &r)
{
    if (r.software_interrupt(own_word)) return true;              // it was executed
    if (r.fault && (r.address & ~3u) == (own_word & ~3u)) return true; // it was taken for an address to go on at
    return r.finished();
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
    // A space's slot is another name of its own memory below 32 MB (docs/x2-arm.md); the kernel knows of no instruction there.
    const bool executed = r.exception && r.words == 13 && r.message[1] - sizeof(Word) == target;
    const bool own = r.slot && target / slot_bytes == r.slot && (executed || came_through(r));
    row(name, (r.fault && r.address == target) || r.aborted() || own, r);
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
        if (!came_through(inside)) {
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
    if (wanted("store", only)) {
        const Report r = attempt(attempt_write_utcb_word, 0);
        row("store.utcb_word", r.fault && r.address == utcb_word && (r.rights & L4_Writable), r);
    }
}

} // namespace attack
