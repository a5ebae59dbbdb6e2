// SPDX-License-Identifier: BSD-2-Clause
// The smallest server: adds, and knows its clients.
#include <interfaces/adder.h>
#include <system/server.h>

#include <cobnut/payload.h>

namespace {

struct Server {
    rpc::Result<rpc::Nothing> handle(Adder::Null, rpc::Client &) { return rpc::Nothing{}; }
    rpc::Result<rpc::Word> handle(Adder::Add, rpc::Client &client, rpc::Word a, rpc::Word b)
    {
        know(client);
        return a + b;
    }
    rpc::Result<rpc::Word> handle(Adder::Clients, rpc::Client &client)
    {
        know(client);
        rpc::Word count = 0;
        for (rpc::Word rest = known; rest; rest &= rest - 1) count++;
        return count;
    }
    rpc::Result<rpc::Nothing> handle(Adder::Crash, rpc::Client &)
    {
        static constinit volatile int *volatile nowhere = nullptr;
        *nowhere = 0;
        return rpc::Nothing{};
    }
    rpc::Result<rpc::Word> handle(Adder::Sum, rpc::Client &client, rpc::Word handle, rpc::Word words)
    {
        const auto shared = cobnut::ask_init<init::Shared>(handle, client.thread.raw, rpc::Word{0});
        if (!shared) return shared.error;
        const auto at = cobnut::ask_init<init::Attach>(handle, rpc::Word{0}, rpc::Word{0});
        if (!at) return at.error;
        rpc::Word sum = 0;
        if (words > init::page_size / sizeof sum) words = init::page_size / sizeof sum;
        for (rpc::Word i = 0; i < words; i++) sum += reinterpret_cast<const rpc::Word *>(at.value)[i];
        cobnut::ask_init<init::Detach>(at.value);
        return sum;
    }
    rpc::Result<rpc::Nothing> handle(Adder::Keep, rpc::Client &client, rpc::Word handle)
    {
        const auto shared = cobnut::ask_init<init::Shared>(handle, client.thread.raw, rpc::Word{1});
        if (!shared) return shared.error;
        const auto at = cobnut::ask_init<init::Attach>(handle, rpc::Word{0}, rpc::Word{1});
        kept = at.value;
        return at.error;
    }
    rpc::Result<rpc::Word> handle(Adder::Count, rpc::Client &)
    {
        return kept ? rpc::Result<rpc::Word>(++*reinterpret_cast<rpc::Word *>(kept)) : rpc::Error::not_found;
    }
    void left(L4_Word_t program) { known &= ~(1u << program); }

    void know(const rpc::Client &client) { known |= 1u << client.program; }
    rpc::Word known = 0, kept = 0; ///< programs; an address
};

constinit Server server;

} // namespace

int cobnut_main(const char *) { cobnut::serve(server, Adder::Operations{}); }
