// SPDX-License-Identifier: BSD-2-Clause
// The driver of an 82540EM: a thread with the registers of the card and its interrupt.
#include "card.h"

#include <nic/driver.h>

#include <cobnut/payload.h>

namespace {

constinit E1000 card;

} // namespace

int cobnut_main(const char *) { return cobnut::drive(card); }
