// SPDX-License-Identifier: BSD-2-Clause
// The driver of an NE2000: a thread with the card's ports and its interrupt.
#include "card.h"

#include <nic/driver.h>

#include <cobnut/payload.h>

namespace {

constinit Ne2000 card;

} // namespace

int cobnut_main(const char *) { return cobnut::drive(card); }
