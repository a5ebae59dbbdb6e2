// SPDX-License-Identifier: BSD-2-Clause
// How an attempt ended, as a row of the console: `attack: row NAME STATUS WHAT`.
#ifndef COBNUT_ATTACK_JUDGE_H
#define COBNUT_ATTACK_JUDGE_H
#include "spaces.h"

namespace attack {

inline constexpr Word own_word = own_fill * 0x01010101u;
inline constexpr Word no_segment = own_fill << 8 | own_fill; ///< the selector that a far pointer of the fill names

enum class Status {
    refused,    ///< in the way that is expected
    escaped,    ///< it got something that is not its own, or was not stopped, or not in this way
    unenforced, ///< so it did, by a segment limit that this machine does not enforce
    /// nothing is proven: the same inside the limits does not come through, or there was never a neighbour to aim at
    blind,
};

/// Prints the row and counts.
void row(const char *kind, const char *name, Status status, const Report &report);
/// Rows so far, and of them those that are refused, and those that are unenforced.
extern unsigned rows, refused_rows, unenforced_rows;

/// Whether an attempt inside the limits came to its end with the attacker's own memory, and without a fault.
bool came_through(const Report &report, const Attempt &attempt);

/// All of attempts.cc from a small or a large space.
void run_attempts(bool small, const char *only);

/// What is particular to this kernel: its entries and exits, its messages, its ports.
struct Trial {
    const char *name;
    /// Refused or not; the report is for the row, or says that there was nothing to refuse. Called for a small and for
    /// a large attacker.
    bool (*refused)(bool small, Report &report);
    bool by_limits; ///< only a machine that enforces limits refuses
};
extern const Trial entry_trials[], frame_trials[], port_trials[], string_trials[], table_trials[];
void run_trials(const Trial *trials, bool small, const char *only);

} // namespace attack
#endif
