// SPDX-License-Identifier: BSD-2-Clause
#include "tally.h"

#include <system/server.h>

#include <cobnut/payload.h>

namespace {

struct Server {
    rpc::Result<rpc::Word> handle(Tally::Add, rpc::Client &client, rpc::Word amount)
    {
        rpc::Word &sum = sums[client.program];
        if (amount > Tally::most - sum) return rpc::Error::bad_value;
        return sum += amount;
    }

    /// A client has ended: what is kept for it goes.
    void left(rpc::Word program) { sums[program] = 0; }

    rpc::Word sums[init::most_programs] = {};
};

constinit Server server;

} // namespace

int cobnut_main(const char *) { cobnut::serve(server, Tally::Operations{}); }
