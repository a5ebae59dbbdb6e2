// SPDX-License-Identifier: BSD-2-Clause
// What takes more than one instruction: memory that was taken away, tags that change hands, spaces that run by turns.
#include "stage.h"

#include <l4/schedule.h>
#include <l4/sigma0.h>

namespace attack {
namespace {

constexpr Word section = 1u << 20;
// where a section is mapped: above 2 GB, and relocated
constexpr Word apart_section = 0x98000000, alike_section = 0x01000000;
constexpr Word crowd = 20;       // more spaces than there are domains
constexpr Word looks = 1000000;  // of a watcher: some tens of milliseconds

/// A writer's next answer; MR1 of its message is `value`.
Report ask(Space &writer, Word value)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, value);
    Report failed;
    if (L4_IpcFailed(L4_Send_Timeout(writer.id, L4_TimePeriod(100000)))) return failed;
    return writer.listen();
}
bool answered(const Report &r, Word value) { return !r.silent && !r.fault && !r.exception && r.message[1] == value; }

bool make(Space &space, Word which, Word base, Word with, const unsigned char *code, Word sp)
{
    space.page = own_page(which, with);
    return space.make(fresh_id(which), base) && space.start(code, sp) &&
           (code != attack_writer || space.wait_until_ready());
}

/// Maps `frame` and what follows it to a writer that has just faulted at its target.
void give(Space &space, const void *frame, int log2, Word at, Word rights)
{
    const L4_MapItem_t item = L4_MapItem(L4_FpageLog2(reinterpret_cast<Word>(frame), log2) + rights, at);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    L4_Reply(space.id);
}

/// The controller's section, which no other space has, as one page.
unsigned char *section_memory()
{
    static constinit L4_Fpage_t f = L4_Nilpage;
    if (L4_IsNilFpage(f)) {
        f = L4_Sigma0_GetAny(L4_nilthread, 20, L4_CompleteAddressSpace);
    } else {
        L4_Flush(f + L4_FullyAccessible);
        f = L4_Sigma0_GetPage(L4_nilthread, f);
    }
    return reinterpret_cast<unsigned char *>(L4_Address(f));
}

/// A section or a part of it is mapped at `at`, used, and revoked, or a part of that: the next use has to fault.
/// `rights` are taken away.
template <Word at, int log2, Word rights, int revoked = log2> bool unmapped(Report &r)
{
    unsigned char *const memory = section_memory();
    if (!memory) return false;
    fill(memory, own_word);
    Space writer;
    bool good = make(writer, 0, alike, own_word, attack_writer, at);
    r = good ? ask(writer, own_word) : Report{};
    good = r.fault && r.address == at;
    if (good) {
        give(writer, memory, log2, at, L4_FullyAccessible);
        r = writer.listen();
        good = answered(r, own_word);
    }
    if (good) {
        L4_UnmapFpage(L4_FpageLog2(reinterpret_cast<Word>(memory), revoked) + rights);
        auto *const word = reinterpret_cast<volatile Word *>(memory);
        *word = foreign_word;
        r = ask(writer, rights & L4_Readable ? 0 : own_word);
        good = r.fault && r.address == at && *word == foreign_word;
    }
    writer.remove();
    return good;
}

/// A space dies, and another takes its place and number: what it had is not there.
template <Word base> bool succeeded(Report &r)
{
    Space first, second;
    bool good = make(first, 0, base, foreign_word, attack_writer, base + page_offset) &&
                answered(r = ask(first, 0), foreign_word);
    first.remove();
    good = good && make(second, 0, base, own_word, attack_writer, base + page_offset);
    second.page = nullptr;
    if (good) r = ask(second, 0);
    second.remove();
    return good && r.fault && r.address == base + page_offset;
}

/// More spaces than there are domains, all at one address: each sees what it has written itself.
template <Word base> bool told_apart(Report &r)
{
    static constinit Space spaces[crowd] = {};
    bool good = true;
    for (Word i = 0; i < crowd; i++)
        good = good && make(spaces[i], i, base, own_word, attack_writer, base + page_offset);
    for (Word round = 1; round <= 4 && good; round++) {
        for (Word i = 0; i < crowd && good; i++) good = answered(r = ask(spaces[i], round << 8 | i), round << 8 | i);
        for (Word n = 0; n < crowd && good; n++) {
            const Word i = n * 7 % crowd;
            good = answered(r = ask(spaces[i], 0), round << 8 | i);
        }
    }
    for (Space &space : spaces) space.remove();
    return good;
}

/// Two spaces look at their own pages, which lie at one address after relocation, while the timer switches between
/// them.
bool watched(Word first_base, Word second_base, Word second_target, Report &r)
{
    Space one, two;
    Space *const both[] = {&one, &two};
    bool good = make(one, 0, first_base, own_word, attack_watcher, first_base + page_offset) &&
                make(two, 1, second_base, own_word + 1, attack_watcher, second_target);
    for (Space *space : both) {
        L4_Set_Timeslice(space->id, L4_TimePeriod(1000), L4_Never);
        good = good && !(r = space->listen()).silent && !r.exception;
    }
    for (Space *space : both) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
        L4_LoadMR(1, looks);
        L4_LoadMR(2, space == &one ? own_word : own_word + 1);
        L4_Reply(space->id);
    }
    for (Space *space : both) {
        r = good ? space->listen(5000) : r;
        // The second one's page may lie elsewhere than its code.
        if (space == &two && r.fault && r.address == second_target) {
            space->map(space->page, second_target, L4_FullyAccessible);
            r = space->listen(5000);
        }
        good = good && r.finished() && r.r0() == (space == &one ? own_word : own_word + 1);
    }
    one.remove();
    two.remove();
    return good;
}
bool watched_alike(Report &r) { return watched(alike, alike, alike + page_offset, r); }
bool watched_apart(Report &r) { return watched(apart_section, apart_section, apart_section + page_offset, r); }
/// The second one's page is where the first one's is relocated to.
bool watched_relocated(Report &r)
{
    Space probe;
    const bool made = make(probe, 0, alike, own_word, attack_watcher, 0);
    const Word slot = made && probe.slot() ? probe.slot() : 1;
    probe.remove();
    return made && watched(alike, alike, slot * slot_bytes + alike + page_offset, r);
}

/// One frame at two addresses, of one space or of two: what is written through one is read through the other.
bool aliased(Word one_base, Word two_base, Report &r)
{
    Space one, two;
    void *const frame = own_page(0, own_word);
    bool good = one.make(fresh_id(0), one_base) && two.make(fresh_id(1), two_base);
    one.page = two.page = frame;
    good = good && one.start(attack_writer, one.own_page()) && one.wait_until_ready() &&
           two.start(attack_writer, two.own_page()) && two.wait_until_ready();
    for (Word i = 1; i <= 8 && good; i++) {
        good = answered(r = ask(one, i), i) && answered(r = ask(two, 0), i) && answered(r = ask(two, ~i), ~i) &&
               answered(r = ask(one, 0), ~i) && *static_cast<volatile Word *>(frame) == ~i;
    }
    one.remove();
    two.remove();
    return good;
}
bool aliased_alike(Report &r) { return aliased(alike, alike, r); }
bool aliased_elsewhere(Report &r) { return aliased(alike, apart_section, r); }

constexpr Scene scenes[] = {
    {"unmap.section_apart", unmapped<apart_section, 20, L4_FullyAccessible>},
    {"unmap.section_alike", unmapped<alike_section, 20, L4_FullyAccessible>},
    {"unmap.large_page_apart", unmapped<apart_section, 16, L4_FullyAccessible>},
    {"unmap.large_page_alike", unmapped<alike_section, 16, L4_FullyAccessible>},
    {"unmap.page_of_section", unmapped<apart_section, 20, L4_FullyAccessible, 12>},
    {"unmap.large_page_of_section", unmapped<alike_section, 20, L4_FullyAccessible, 16>},
    {"unmap.page_of_large_page", unmapped<alike_section, 16, L4_FullyAccessible, 12>},
    {"unmap.page_apart", unmapped<apart_section, 12, L4_FullyAccessible>},
    {"unmap.page_alike", unmapped<alike_section, 12, L4_FullyAccessible>},
    {"unmap.section_writing", unmapped<apart_section, 20, L4_Writable>},
    {"unmap.page_of_section_writing", unmapped<alike_section, 20, L4_Writable, 12>},
    {"unmap.page_writing", unmapped<alike_section, 12, L4_Writable>},
    {"successor.alike", succeeded<alike>},
    {"successor.beyond", succeeded<beyond + section * 16>},
    {"successor.apart", succeeded<apart_section>},
    {"crowd.alike", told_apart<alike>},
    {"crowd.beyond", told_apart<beyond>},
    {"crowd.apart", told_apart<apart_section>},
    {"window.alike", watched_alike},
    {"window.apart", watched_apart},
    {"window.relocated", watched_relocated},
    {"alias.alike", aliased_alike},
    {"alias.elsewhere", aliased_elsewhere},
};

} // namespace

void run_scenes(const char *only) { run_scenes_of(scenes, sizeof scenes / sizeof *scenes, only); }

} // namespace attack
