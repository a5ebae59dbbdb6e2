// SPDX-License-Identifier: BSD-2-Clause
// Instead of libs/sockets/connection.h, for a program that has the TCP/IP stack in its own space: calls are calls of
// functions. Of calls that wait there is poll() alone, and
// that one without a limit.
#pragma once

#include <network/sockets.h>
#include <system/memory.h>

#include <single/machine.h>

namespace sockets {

using rpc::Word;

class Connection {
public:
    template <typename Op, typename... A> rpc::Result<typename Op::Value> call(const A &...arguments)
    {
        return the_sockets.handle(Op{}, self_, arguments...);
    }

    /// Network::Poll.
    rpc::Result<Network::Outcome> poll(const Network::Buffer &entries, Word ms)
    {
        for (;;) {
            const auto found = the_sockets.handle(Network::Poll{}, self_, entries, Word{0});
            if (!found || found.value.error || found.value.value || !ms) return found;
            the_machine.wait();
        }
    }

    /// Starts the card and the stack: memory for calls; nullptr if that fails.
    char *share(Word pages)
    {
        const auto made = cobnut::make_memory(pages);
        self_.thread = L4_Myself();
        if (!made || !the_machine.begin() || !the_sockets.handle(Network::Share{}, self_, made.value.handle))
            return nullptr;
        return reinterpret_cast<char *>(made.value.address);
    }

private:
    rpc::Client self_ = {};
};

} // namespace sockets
