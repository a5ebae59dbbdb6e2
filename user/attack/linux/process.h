// SPDX-License-Identifier: BSD-2-Clause
// The Linux side of the attempts: LDT entries that stand for a slot, and what runs under them.
#ifndef COBNUT_ATTACK_LINUX_PROCESS_H
#define COBNUT_ATTACK_LINUX_PROCESS_H
#include "../attempts.h"

namespace attack {

/// What stopped an attempt, and in which state: the processor's vector and error code (Linux hands both out).
struct Outcome {
    Word vector, error, ip, eax;
};

/// Memory and LDT entries. False, and a line on stderr, if this Linux has no 32-bit segments for users.
bool prepare();

/// Runs an attempt, or the same inside the limits. `limited` false: segments of 4 GB with the same base, as on a
/// machine that does not check.
Outcome run(const Attempt &attempt, bool inside, bool limited);

/// Whether the attacker's neighbours and the page that stands for the large space are what they were.
bool foreign_memory_intact();

/// LDT selectors of the slot's code and data, for measurements.
Word code_selector();
Word data_selector();

/// Fills all memory anew, with limits in force.
void reset();
/// The slot's size, which is the first offset past its limit; and a byte by its offset, also of the neighbour above.
Word slot_end();
const volatile unsigned char *slot_byte(Word offset);

/// Prints `attack: speculation WHERE PERCENT`: how often a line of the cache shows a value that a load brought from
/// inside the limits, from beyond them, and (absent) a value that is nowhere.
void speculate();

/// Prints `attack: cost NAME CYCLES` for segment loads, returns, system calls, loads and a pipe round trip.
void measure();
/// The part of it that is about loads: with the translation there, and without.
void measure_walks();

} // namespace attack
#endif
