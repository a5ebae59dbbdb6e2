// SPDX-License-Identifier: BSD-2-Clause
// What has to hold after each step, whatever the steps were.
#ifndef COBNUT_COMPOSE_ORACLE_H
#define COBNUT_COMPOSE_ORACLE_H
#include "world.h"

namespace compose {

extern Word area_mb; ///< of the kernel's small-space area

/// A step begins.
void note_tags();
/// What a thread's last probe found that must not be; null if all is well.
const char *judge_probe(Word g);
/// All of what a step that concerned the space may not have done.
const char *judge_step(Word s);

} // namespace compose
#endif
