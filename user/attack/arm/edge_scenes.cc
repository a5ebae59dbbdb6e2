// SPDX-License-Identifier: BSD-2-Clause
// Scenes where one thing meets another: the end of a slot and an instruction that straddles it, memory that is taken
// away and the loss of a domain, a shared region and a member that leaves it, a message and the flags of its sender.
#include "stage.h"

#include <l4/schedule.h>

extern "C" const unsigned char attempt_load_across[], attempt_store_across[], attempt_load_above[],
    attempt_load_below[], attack_flags_reader[], attack_flags_caller[], attack_runner[],
    attempt_odd_software_interrupt[], attempt_undefined[], attempt_masks[];

namespace attack {
namespace {

constexpr Word section = 1u << 20, slot_change = 1u << 31, low_end = slot_bytes;
constexpr Word apart_section = 0x98000000, alike_section = 0x01000000;
constexpr Word nothing = 0xE1A00000; // an instruction that does nothing
constexpr Word crowd = 18; // more spaces than there are domains

bool move_to_slot(const Space &space, Word slot)
{
    Word word = 0;
    L4_SpaceControl(space.id, slot_change | slot, L4_Nilpage, L4_Nilpage, L4_nilthread, &word);
    return word & slot_change;
}

/// A free slot with a free one behind it; 0 without tags.
Word two_slots(const Space &space)
{
    if (!space.slot()) return 0;
    for (Word slot = 40; slot < 60; slot++)
        if (move_to_slot(space, slot + 1) && move_to_slot(space, slot)) return slot;
    return 0;
}

/// A writer at its target, and the answers that it gives.
Report ask(Space &writer, Word value)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, value);
    Report failed;
    if (L4_IpcFailed(L4_Send_Timeout(writer.id, L4_TimePeriod(100000)))) return failed;
    return writer.listen();
}
bool answered(const Report &r, Word value) { return !r.silent && !r.fault && !r.exception && r.message[1] == value; }

bool make_writer(Space &writer, Word which, Word base, Word target)
{
    return writer.make(fresh_id(which), base) && writer.start(attack_writer, target) && writer.wait_until_ready();
}

/// Gives a writer the page at its target that it has just asked for, or what of a larger one is there; what it reads
/// then.
Report give(Space &writer, const void *frame, Word at)
{
    writer.map(frame, at, L4_FullyAccessible);
    return writer.listen();
}

/// The space that has a slot, perhaps the controller's, gives it up for another.
bool slot_free(Word slot)
{
    Space controller;
    controller.id = L4_Myself();
    Space *const all[] = {&controller, &stage.alike, &stage.beyond, &stage.apart};
    for (Space *one : all)
        for (Word other = 30; one->slot() == slot && other < 40; other++) move_to_slot(*one, other);
    return true;
}

/// Runs `code` in a space that has a page at `page` beside its own, and code; where it faults elsewhere, or stops, is
/// told.
Report run_at(Space &attacker, const unsigned char *code, Word sp, Word page, const void *frame)
{
    Report r;
    if (!attacker.start(code, sp)) return r;
    r = attacker.listen();
    while (r.fault && (r.address & -page_size) == page) {
        attacker.map(frame, r.address, L4_FullyAccessible);
        r = attacker.listen();
    }
    return r;
}

/// The attacker's last page below 32 MB, an access past its end, and a neighbour whose first page has the address
/// behind it after relocation. `other_name`: by the addresses of the slot itself.
template <bool other_name> bool past_the_slot(const unsigned char *code, int reach, Report &r)
{
    Space attacker, neighbour;
    attacker.page = own_page(0, own_word);
    neighbour.page = own_page(1, foreign_word);
    void *const last_page = own_page(2, code == attack_runner ? nothing : own_word);
    bool good = attacker.make(fresh_id(0), alike) && make_writer(neighbour, 1, alike, 0);
    good = good && (r = ask(neighbour, 0)).fault && r.address == 0 &&
           answered(r = give(neighbour, neighbour.page, 0), foreign_word);
    const Word slot = good ? two_slots(attacker) : 0;
    const Word behind = other_name ? slot + 1 : 1;
    if (slot && neighbour.slot() != behind) good = good && slot_free(behind) && move_to_slot(neighbour, behind);
    const Word end = low_end + (other_name ? slot * slot_bytes : 0);
    r = run_at(attacker, code, end + (code == attempt_load_above ? -4 : 0) + (code == attempt_store_across ? 4 : 0),
               low_end - page_size, last_page);
    good = good && r.fault && r.address == end + static_cast<Word>(reach);
    good = good && answered(ask(neighbour, 0), foreign_word);
    attacker.remove();
    neighbour.remove();
    return good;
}

template <const unsigned char *code> bool past_low_end(Report &r) { return past_the_slot<false>(code, 0, r); }
template <const unsigned char *code> bool past_slot_end(Report &r) { return past_the_slot<true>(code, 0, r); }

/// More spaces than there are domains run at one address, so that all others lose theirs.
bool others_run(Word target)
{
    Space others[crowd];
    bool good = true;
    for (Word i = 0; i < crowd && good; i++) {
        others[i].page = own_page(8 + i, own_word);
        good = others[i].make(fresh_id(8 + i), target - page_offset) && others[i].start(attack_writer, target) &&
               others[i].wait_until_ready() && answered(ask(others[i], 0), own_word);
    }
    for (Space &one : others) one.remove();
    return good;
}

/// Memory is revoked while the space that has it has no domain, and given anew: only the new one is there.
template <Word base> bool revoked_without_domain(Report &r)
{
    const Word at = base + page_offset;
    void *const old_frame = own_page(1, foreign_word), *const new_frame = own_page(2, own_word);
    Space writer;
    bool good = make_writer(writer, 0, base, at);
    good = good && (r = ask(writer, 0)).fault && r.address == at &&
           answered(r = give(writer, old_frame, at), foreign_word);
    good = good && others_run(base + page_offset);
    L4_Flush(L4_FpageLog2(reinterpret_cast<Word>(old_frame), 12) + L4_FullyAccessible);
    // The controller's image comes again by its own pager; what it holds is what was revoked.
    fill(old_frame, own_word + 1);
    good = good && (r = ask(writer, 0)).fault && r.address == at && answered(r = give(writer, new_frame, at), own_word);
    writer.remove();
    return good;
}

/// A page comes and goes and comes anew, as another frame each time, with fewer rights in between.
template <Word base> bool mapped_by_turns(Report &r)
{
    const Word at = base + page_offset;
    Space writer;
    bool good = make_writer(writer, 0, base, at);
    r = ask(writer, 0);
    for (Word turn = 0; turn < 6 && good; turn++) {
        void *const frame = own_page(1 + turn % 3, own_word + turn);
        auto *const word = static_cast<volatile Word *>(frame);
        good = r.fault && r.address == at && answered(r = give(writer, frame, at), turn ? turn : own_word);
        good = good && answered(r = ask(writer, ~turn), ~turn) && *word == ~turn;
        L4_UnmapFpage(L4_FpageLog2(reinterpret_cast<Word>(frame), 12) + L4_Writable);
        good = good && answered(r = ask(writer, 0), ~turn) && (r = ask(writer, turn + 1)).fault &&
               (r.rights & L4_Writable);
        L4_UnmapFpage(L4_FpageLog2(reinterpret_cast<Word>(frame), 12) + L4_FullyAccessible);
        // not where it has asked for it: it faults again
        writer.map(own_page(4, own_word), at + section, L4_ReadeXecOnly);
        r = writer.listen();
        good = good && *word == ~turn;
    }
    writer.remove();
    return good;
}

/// Three spaces share a megabyte. One loses its page, while the others have it; then another space dies.
bool shared_by_three(Report &r)
{
    constexpr Word at = apart_section;
    void *const frame = own_page(3, own_word), *const secret = own_page(4, foreign_word);
    Space members[3];
    bool good = true;
    for (Word i = 0; i < 3 && good; i++) {
        good = make_writer(members[i], i, alike, at);
        good = good && (r = ask(members[i], 0)).fault && r.address == at &&
               answered(r = give(members[i], frame, at), own_word);
    }
    for (Word i = 0; i < 12 && good; i++)
        good = answered(r = ask(members[i % 3], i + 1), i + 1) && answered(r = ask(members[(i + 1) % 3], 0), i + 1);
    // The first one gets another page there, which the others have no part in.
    L4_UnmapFpage(L4_FpageLog2(reinterpret_cast<Word>(frame), 12) + L4_FullyAccessible);
    good = good && (r = ask(members[0], 0)).fault && r.address == at &&
           answered(r = give(members[0], secret, at), foreign_word);
    for (Word i = 1; i < 3 && good; i++) {
        good = (r = ask(members[i], 0)).fault && r.address == at && answered(r = give(members[i], frame, at), 12);
        good = good && answered(r = ask(members[0], 0), foreign_word);
    }
    members[1].remove();
    good = good && answered(r = ask(members[2], 0), 12) && answered(r = ask(members[0], 0), foreign_word);
    for (Space &one : members) one.remove();
    return good;
}

/// What a sender's flags are is not for its partner to see.
bool flags_stay(Report &r)
{
    Space reader, caller;
    bool good = reader.make(fresh_id(0), alike) && reader.start(attack_flags_reader, 0) && reader.wait_until_ready();
    good = good && caller.make(fresh_id(1), alike) && caller.start(attack_flags_caller, reader.id.raw);
    caller.wait_until_ready();
    r = reader.listen();
    good = good && r.finished() && (r.r0() & 0xFF0000BF) == 0x10;
    reader.remove();
    caller.remove();
    return good;
}

/// The answer to an exception has flags and an address that would make the attacker something else than a user in ARM
/// state.
template <const unsigned char *code, Word words> bool answered_with_flags(Report &r)
{
    Space attacker;
    attacker.page = own_page(0, own_word);
    bool good = attacker.make(fresh_id(0), alike) && attacker.start(code, attacker.own_page());
    r = attacker.listen();
    good = good && r.exception && r.words == words;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = words});
    for (Word i = 1; i <= words; i++) L4_LoadMR(i, r.message[i]);
    // To an instruction that shows its flags.
    L4_LoadMR(1, attacker.base + static_cast<Word>(attempt_masks - attack_page));
    L4_LoadMR(words == 13 ? 13 : 3, ~0u);
    L4_Reply(attacker.id);
    r = attacker.listen();
    good = good && r.finished() && (r.r0() & 0x010000BF) == 0x10 && (r.flags() & 0x010000BF) == 0x10;
    attacker.remove();
    return good;
}

constexpr Scene scenes[] = {
    {"edge.load_across_low_end", past_low_end<attempt_load_across>},
    {"edge.store_across_low_end", past_low_end<attempt_store_across>},
    {"edge.load_above_low_end", past_low_end<attempt_load_above>},
    {"edge.run_past_low_end", past_low_end<attack_runner>},
    {"edge.load_across_slot_end", past_slot_end<attempt_load_across>},
    {"edge.store_across_slot_end", past_slot_end<attempt_store_across>},
    {"edge.load_above_slot_end", past_slot_end<attempt_load_above>},
    {"edge.run_past_slot_end", past_slot_end<attack_runner>},
    {"turns.alike", mapped_by_turns<alike>},
    {"turns.apart", mapped_by_turns<apart_section>},
    {"turns.without_domain_alike", revoked_without_domain<alike>},
    {"turns.without_domain_apart", revoked_without_domain<apart_section>},
    {"region.member_leaves", shared_by_three},
    {"flags.partner", flags_stay},
    {"flags.answer_to_call", answered_with_flags<attempt_odd_software_interrupt, 13>},
    {"flags.answer_to_exception", answered_with_flags<attempt_undefined, 6>},
};

} // namespace

void run_edge_scenes(const char *only) { run_scenes_of(scenes, sizeof scenes / sizeof *scenes, only); }

} // namespace attack
