// SPDX-License-Identifier: BSD-2-Clause
// What a program of a system calls init for (servers/interfaces/init.h has each operation and its errors).
#pragma once

#include <interfaces/init.h>

namespace cobnut {

/// Calls an operation of init's.
template <typename Op, typename... A> rpc::Result<typename Op::Value> ask_init(const A &...arguments)
{
    return rpc::call<Op>(L4_Pager(), arguments...);
}

/// A client's end of a service. The server behind it may die and be started again: calls then fail with Error::dead
/// once, and the next one finds the new server.
class Session {
public:
    /// Of the service that the caller's description names in `uses`.
    explicit constexpr Session(const char *service) : service_(service) {}

    template <typename Op, typename... A> rpc::Result<typename Op::Value> call(const A &...arguments)
    {
        if (L4_IsNilThread(server_)) {
            const auto found = ask_init<init::Open>(init::Name(service_));
            if (!found) return found.error;
            server_.raw = found.value;
        }
        auto result = rpc::call<Op>(server_, arguments...);
        if (result.error == rpc::Error::dead) server_ = L4_nilthread;
        return result;
    }

    /// The server's main thread, after a call that has not failed with Error::dead.
    L4_ThreadId_t server() const { return server_; }

private:
    const char *service_;
    L4_ThreadId_t server_ = {};
};

} // namespace cobnut
