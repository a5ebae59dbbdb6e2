// SPDX-License-Identifier: BSD-2-Clause
// The stage: attackers' spaces, whose shape the steps change, between victims, whose memory is full of words that no
// other space has. With them there are more spaces than domains. The controller, which is the root server, is the pager
// of all. Attackers get two megabytes of its own and pass them on; a model (mapping_model.h) knows which space has what
// of them, and `value` what is in it. It knows some pages of each megabyte, its spots.
#ifndef COBNUT_COMPOSE_WORLD_H
#define COBNUT_COMPOSE_WORLD_H
#include "../../model/mapping_model.h"
#include "../random.h"
#include "agent.h"

#include <l4/ipc.h>
#include <l4/space.h>

namespace compose {

inline constexpr Word page_size = 4096, mega_log2 = 20, large_log2 = 16, page_log2 = 12, slot_log2 = 25;
inline constexpr Word mega = 1u << mega_log2;
inline constexpr Word attackers = 4, threads_each = 3, threads = attackers * threads_each, victims = 14;
inline constexpr Word spaces = attackers + victims, agents = threads + victims, nobody = agents;

/// Where attackers have megabytes: below 32 MB; at the end of that, and behind it, in the first slot; where the first
/// one is in the second slot; and far up, where spaces share what they have in common.
inline constexpr Word regions[] = {0x00500000, 0x01F00000, 0x02000000, 0x04500000, 0x90000000, 0x90100000};
inline constexpr Word region_count = sizeof regions / sizeof *regions;
/// Of a megabyte: three pages in each of three pieces of 64 KB. The last one is the megabyte's last.
inline constexpr Word parts[] = {0x0, 0x7, 0xF}, part_count = 3, spots = part_count * part_count;
constexpr Word spot_offset(Word spot) { return parts[spot / part_count] * 0x10000 + parts[spot % part_count] * 0x1000; }
inline constexpr Word places = region_count * spots;
constexpr Word place_address(Word place) { return regions[place / spots] + spot_offset(place % spots); }
inline constexpr Word megabytes = 2, memory_pages = megabytes * spots;
/// One more page is given to a thread that faults, and taken away again.
inline constexpr Word spare = memory_pages, pages = memory_pages + 1;

using model::Node;
using Model = model::Mappings<attackers, places, pages>;
inline constexpr Word canary = 0xCA900000, spare_word = 0x5BA9E000;
/// Where victims have a page of theirs.
inline constexpr Word canary_places[] = {0x00500000, 0x01FFF000, 0x90000000}, canaries_each = 3;

struct Agent {
    L4_ThreadId_t id = {};
    bool there = false;
    Word reported[5] = {}; ///< MR0 to MR4 of its last message
};
struct Space {
    Word code = 0, kip = 0, utcbs = 0, utcb_log2 = 0;
    Word slot = 0; ///< that was asked for, if `asked`
    bool asked = false;
};
extern Agent agent[agents];
extern Space space[spaces];
extern Model memory;
/// The first and the last word of each page.
extern Word value[pages][2];
extern L4_ThreadId_t controller;
/// What is wrong first of all in this step.
extern const char *wrong;
void fail(const char *what);

inline Word keeper_of(Word s) { return s * threads_each; }
inline Word space_of(Word g) { return g < threads ? g / threads_each : attackers + g - threads; }
inline Word victim(Word v) { return threads + v; }
inline bool alive(Word s) { return agent[keeper_of(s)].there; }

/// The victims, and the megabytes.
bool make_stage();
/// As at first: what victims have, and the megabytes, in one piece each, as the controller's alone.
void renew_victims();
void renew_megabyte(Word m);
/// Whether a victim's memory is what it was, as the controller has it.
bool victim_intact(Word v);
/// Where the controller has a page, or a megabyte.
Word page_address(Word page);
Word megabyte_address(Word m);

bool make_space(Word s, Word code, Word kip, Word utcb_log2);
/// A thread of a space that is there, in the place of the one before.
bool make_thread(Word g);
void remove_space(Word s);
void remove_all();

/// An order: `entry` of agent.S with two parameters. Faults are served until the report comes; then what was given
/// meanwhile is taken away again. False if there is none.
struct Answer {
    bool good = false;
    bool faulted = false; ///< it has got the spare page, or nothing
    Word address = 0; ///< where, at first
    Word r4 = 0, r5 = 0, r6 = 0;
};
Answer order(Word g, const char *entry, Word first = 0, Word second = 0);
/// Parameters beyond these, before it.
void more(const Word *words, Word count);
/// A system call; R3 in `r4`, R0 and R1 in the others.
Answer call(Word g, Word number, const Word (&registers)[8]);
/// A report of `other`'s, beside that, is waited for in the next order.
void expect(Word other);
/// Items for a thread, sent by the controller.
void send_items(Word g, L4_MapItem_t item);
/// The slot that a space has; 0: none.
Word slot_of(Word s);
/// Asks for another one; false if the kernel refuses.
bool move_to(Word s, Word slot);

/// The place at an address in attackers' spaces; `places` if there is none.
Word place_at(Word address);

} // namespace compose

extern "C" {
extern const char agent_begin[], agent_start[], agent_resume[], agent_report[], agent_read_word[],
    agent_read_multiple[], agent_read_translated[], agent_read_halves[], agent_write_word[], agent_write_multiple[],
    agent_write_translated[], agent_write_swapped[], agent_write_bytes[], agent_read_across[], agent_write_across[],
    agent_run[], agent_jump[], agent_check[], agent_accept[], agent_call[], agent_ask[], agent_end[];
extern const compose::Word agent_page_code[], agent_page_code_end[];
}
#endif
