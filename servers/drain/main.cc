// SPDX-License-Identifier: BSD-2-Clause
// Reads pipes to their end, for the checks of pipes between spaces.
#include <interfaces/drain.h>
#include <pipes/pipe.h>
#include <system/server.h>

#include <cobnut/payload.h>

namespace {

using rpc::Word;

constinit char bytes[8192] = {};

struct Server {
    rpc::Result<Drain::Seen> handle(Drain::Read, rpc::Client &, Word pipe, Word at_once)
    {
        Drain::Seen seen = {};
        if (!at_once || at_once > sizeof bytes) return rpc::Error::bad_value;
        for (;;) {
            const pipes::Moved got = pipes::read(L4_ThreadId_t{.raw = pipe}, bytes, at_once);
            seen.status = static_cast<Word>(got.status);
            if (got.status != pipes::Status::done || !got.bytes) return seen;
            for (Word i = 0; i < got.bytes; i++) seen.sum += static_cast<unsigned char>(bytes[i]) * ++seen.bytes;
        }
    }
    rpc::Result<Word> handle(Drain::Write, rpc::Client &, Word pipe)
    {
        return static_cast<Word>(pipes::write(L4_ThreadId_t{.raw = pipe}, bytes, 1).status);
    }
};

constinit Server server;

} // namespace

int cobnut_main(const char *) { cobnut::serve(server, Drain::Operations{}); }
