// SPDX-License-Identifier: BSD-2-Clause
// The driver of an SMC91C111: a thread with the card's registers and its interrupt.
#include "card.h"

#include <nic/driver.h>

#include <cobnut/payload.h>

namespace {

constinit Smc91c111 card;

} // namespace

int cobnut_main(const char *) { return cobnut::drive(card, Smc91c111::rings_at); }
