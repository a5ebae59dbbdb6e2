// SPDX-License-Identifier: BSD-2-Clause
// A server under requests at random: after each hundred it has to answer a right one rightly.
#pragma once

#include "requests.h"

#include <system/system.h>

namespace fuzz {

/// Of the whole run: what the requests are made from, how many each interface gets, and whether a server has failed.
inline constinit Word seed = 1, requests = 2000;
inline constinit bool failed = false;

/// Says what came of the requests, and how many right ones were not answered rightly.
void say(const char *name, const Tally &tally, Word lost);

/// `well`: whether the server does what it should.
template <typename Well> void attack(const char *name, L4_ThreadId_t server, const Interface &interface, Well well)
{
    constexpr Word between = 100;
    Dice dice(seed);
    Tally tally;
    Word lost = 0;
    while (tally.requests < requests) {
        request(server, interface, dice, tally);
        if (tally.requests % between == 0 && !well()) lost++;
    }
    say(name, tally, lost);
}

/// Those that the description does not name are left out.
template <typename Well> void attack(const char *service, const Interface &interface, Well well)
{
    const L4_ThreadId_t server = {.raw = cobnut::ask_init<init::Open>(init::Name(service)).value};
    if (server.raw) attack(service, server, interface, [=] { return well(server); });
}

/// Mach's kernel, by a task of its, if there is one; and what programs ask it for. On processors that have the server.
void attack_mach();
void attack_machs_boot();

} // namespace fuzz
