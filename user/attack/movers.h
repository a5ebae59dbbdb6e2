// SPDX-License-Identifier: BSD-2-Clause
// Spaces that keep the kernel's rules about tags busy while attacks go on: they talk to each other all the time, and
// grow past every slot and shrink again, so that they are promoted and demoted, and take slots from spaces that sleep.
#ifndef COBNUT_ATTACK_MOVERS_H
#define COBNUT_ATTACK_MOVERS_H

namespace attack {

/// False if they cannot be made.
bool make_movers();
/// Whether they have found nothing but their own memory so far.
bool movers_intact();

} // namespace attack
#endif
