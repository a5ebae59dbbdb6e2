// SPDX-License-Identifier: BSD-2-Clause
// What has to hold after each step, whatever the steps were.
#ifndef COBNUT_COMPOSE_ORACLE_H
#define COBNUT_COMPOSE_ORACLE_H
#include "world.h"

namespace compose {

/// A thread reads a place: a fault, or what was written last through any address. By the `kind` of access.
void judge_read(Word g, Word place, Word kind);
/// Whether what is not mapped there is another name of something else: the addresses of a space's own slot.
bool other_name(Word s, Word address);
/// A victim looks at one of its pages.
void judge_victim(Word v, Word which);
/// All of what a step that concerned the space may not have done: some of its places and of others' that have lost
/// something, the controller's view of the memory, a victim, the slots. `x` chooses.
void judge_step(Word s, Word x);
/// Everything, and the kernel's books.
void judge_all();

} // namespace compose
#endif
