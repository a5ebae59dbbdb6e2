// SPDX-License-Identifier: BSD-2-Clause
// The stage: victims whose memory is full of `foreign_word`, and an attacker, a new one for each attempt, at the same
// addresses as one of them. The controller (the root server) is pager, exception handler and judge of all.
//
//              code, page and interface page        who
//   alike      below 32 MB, the attacker's own      victim, attacker: told apart by PID relocation and by domain
//   beyond     where a PID slot relocates to        victim
//   apart      above 2 GB                           victim
#pragma once

#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/space.h>

namespace attack {

using Word = L4_Word_t;

inline constexpr Word page_size = 4096, slot_bytes = 32u << 20;
inline constexpr Word alike = 0x00400000, beyond = 0x06400000, apart = 0x90000000; ///< victims' bases
inline constexpr Word page_offset = 0x600000, kip_offset = 0x100000;             ///< code is at the base
inline constexpr Word foreign_word = 0xEF000077, own_word = 0xEF000066, end_word = 0xEF5A0000; ///< software interrupts
/// this kernel's
inline constexpr Word utcb_areas = 0xD0000000, window = 0xF0000000, devices = 0xFE000000, utcb_word = 0xFF000000,
                      image = 0xFFF00000;

extern "C" const unsigned char attack_page[], attack_page_end[];
extern "C" const unsigned char attack_victim[], attack_watcher[], attack_writer[];

/// The first thing that the controller hears of an attacker.
struct Report {
    bool silent = true, fault = false, exception = false;
    Word address = 0, ip = 0, rights = 0; ///< of a page fault
    unsigned words = 0; ///< of an exception: 13 to a software interrupt, otherwise 6
    Word message[14] = {};
    Word slot = 0; ///< the attacker's PID slot

    bool software_interrupt(Word instruction) const { return exception && words == 13 && message[12] == instruction; }
    /// It came to its end.
    bool finished() const { return software_interrupt(end_word); }
    bool undefined() const { return exception && words == 6 && message[4] == 1; }
    bool aborted() const { return exception && words == 6 && message[4] == 0x100; }
    Word r0() const { return message[2]; }
    Word flags() const { return words == 13 ? message[13] : message[3]; }
};

/// A space with one thread, with a copy of attack_page at its base.
class Space {
public:
    /// The thread, not yet started; false after a message.
    bool make(L4_ThreadId_t id, Word base);
    /// Starts it there, with this stack pointer.
    bool start(const unsigned char *code, Word sp);
    /// Answers `what` it waits for with memory at `frame`.
    void map(const void *frame, Word at, Word rights);
    /// The next message of its; pages of attack_page and of its own page are supplied meanwhile, for `patience`
    /// milliseconds.
    Report listen(Word patience = 500);
    /// Supplies until it waits for a message: false if it has something else to say.
    bool wait_until_ready();
    void remove();

    L4_ThreadId_t id = {};
    Word base = 0, utcb = 0;
    void *page = nullptr; ///< what is at base + page_offset
    bool made = false;

    Word own_page() const { return base + page_offset; }
    /// Its PID slot; 0: none.
    Word slot() const;

private:
    bool supply(Word address);
};

struct Stage {
    Space alike, beyond, apart;
    Word version = 1;
    bool leaks = false; ///< attackers are given a victim's memory where they ask for it: the judge has to see that
};
extern Stage stage;

/// Creates the victims.
bool make_victims();
/// Whether their memory is what it was, as they see it and as the controller does.
bool victims_intact();
void restore_victims();

/// A new id for a space that is short-lived: one of `short_lived` at a time.
inline constexpr Word short_lived = 40;
L4_ThreadId_t fresh_id(Word which = 0);
/// A page of the controller's for the short-lived, filled with a word.
void *own_page(Word which, Word with);
void fill(void *page, Word with);

/// A new attacker runs `code` with SP = `target`.
Report attempt(const unsigned char *code, Word target);

/// Prints `attack: row NAME STATUS HOW` and counts.
void row(const char *name, bool refused, const Report &report);
/// The same where nothing was attempted: what has to come through inside its own memory does not.
void blind(const char *name, const Report &report);
extern unsigned rows, refused_rows;

// The attempts; `only` is what their names have to contain.
bool wanted(const char *name, const char *only);
/// An attempt of several steps. Tells whether all was refused that has to be, and what came last.
struct Scene {
    const char *name;
    bool (*refused)(Report &r);
};
void run_scenes_of(const Scene *scenes, unsigned count, const char *only);
void run_accesses(const char *only);
void run_privileged(const char *only);
void run_scenes(const char *only);
void run_edge_scenes(const char *only);

} // namespace attack
