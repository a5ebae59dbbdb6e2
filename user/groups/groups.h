// SPDX-License-Identifier: BSD-2-Clause
// What the parts of groups share: the parsed command line, which space calls which, and the messages between root and
// the driver.
#ifndef COBNUT_GROUPS_H
#define COBNUT_GROUPS_H
#include <cobnut/root.h>
#include <l4/ipc.h>
#include <l4/thread.h>

namespace groups {

using Word = L4_Word_t;
using cobnut::done_label, cobnut::fail, cobnut::failed_label, cobnut::tell_root;

constexpr Word most_spaces = 512;

enum class Pattern : unsigned { pipeline, star, web, random };

/// The parsed command line.
struct Wish {
    Pattern pattern = Pattern::pipeline;
    unsigned spaces = 8;
    unsigned size_mb = 16;  ///< what a space needs of a slot
    unsigned pages = 3;     ///< that each space touches of its own at each message, its stack's among them
    unsigned batch = 16;    ///< items that a group works on until another one is chosen
    unsigned rounds = 100;  ///< measured batches
    unsigned warmup_ms = 100;
    unsigned fixed_mb = 0;  ///< slots are asked for, one after the other, as far as they go in so much; 0: none are
    bool names = false;     ///< each space begins a case of its own at the end
};

/// What the spaces need to know; filled before they start. Read-only then.
struct Setup {
    Wish wish;
    Word first_number;
};
extern Setup setup;

inline L4_ThreadId_t thread(Word i) { return L4_GlobalId(setup.first_number + i, 1); }

/// The group of a space. Space 0 is the driver; in `star` and `web` space 1 is the server that all call. Both are in
/// none. In `star` and `random` every other space is a group by itself.
struct Group {
    Word number = 0, first = 0, size = 0; ///< size 0: none
};
Group group_of(Word space);
Group group_at(Word number);
Word group_count();

/// Where the pages that a space has for itself begin, in the space.
constexpr Word own_pages = 0x00300000;

/// The driver's message to the root thread before it measures.
constexpr Word steady_label = 0x0D03;

[[noreturn]] void driver_main();
[[noreturn]] void space_main();

} // namespace groups
#endif
