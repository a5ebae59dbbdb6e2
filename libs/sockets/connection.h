// SPDX-License-Identifier: BSD-2-Clause
// The way from the names of sockets to the TCP/IP server: calls of its operations, and memory that both have.
#pragma once

#include <interfaces/network.h>
#include <system/memory.h>

namespace sockets {

using rpc::Word;

class Connection {
public:
    template <typename Op, typename... A> rpc::Result<typename Op::Value> call(const A &...arguments)
    {
        return network_.call<Op>(arguments...);
    }

    /// Network::Poll.
    rpc::Result<Network::Outcome> poll(const Network::Buffer &entries, Word ms)
    {
        return network_.call<Network::Poll>(entries, ms);
    }

    /// Shares so many pages with the server, once more after it has been started again: where; nullptr if that fails.
    char *share(Word pages)
    {
        if (!memory_.handle) {
            const auto made = cobnut::make_memory(pages);
            if (!made) return nullptr;
            memory_ = made.value;
        }
        const auto server = cobnut::ask_init<init::Open>(init::Name("network"));
        if (!server || !cobnut::ask_init<init::Pass>(memory_.handle, server.value, Word{1})) return nullptr;
        return network_.call<Network::Share>(memory_.handle) ? reinterpret_cast<char *>(memory_.address) : nullptr;
    }

private:
    cobnut::Session network_{"network"};
    cobnut::Memory memory_ = {};
};

} // namespace sockets
