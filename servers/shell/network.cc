// SPDX-License-Identifier: BSD-2-Clause
#include "network.h"

#include "commands.h"

#include <interfaces/network.h>
#include <system/system.h>

namespace shell {
namespace {

/// An address as it lies in memory, in four numbers.
struct Quad {
    unsigned char bytes[4];
    explicit Quad(rpc::Word address) { __builtin_memcpy(bytes, &address, sizeof bytes); }
};

void print_address(const char *what, rpc::Word address)
{
    const Quad q(address);
    print("%s %u.%u.%u.%u", what, q.bytes[0], q.bytes[1], q.bytes[2], q.bytes[3]);
}

} // namespace

bool net(cobnut::Text, int &)
{
    static constinit cobnut::Session network("network");
    const auto asked = network.call<Network::Describe>();
    if (!asked) {
        print("net: %s\n", rpc::describe(asked.error));
        return true;
    }
    const Network::State &s = asked.value;
    const unsigned char *const h = s.hardware;
    print("%s, card %02x:%02x:%02x:%02x:%02x:%02x", s.up ? "up" : "down", h[0], h[1], h[2], h[3], h[4], h[5]);
    print_address(", address", s.addresses.address);
    print_address(", mask", s.addresses.mask);
    print_address(", gateway", s.addresses.gateway);
    print("\n%u frames in, %u out, %u dropped, %u sockets\n", s.frames_in, s.frames_out, s.dropped, s.sockets);
    if (s.drivers > 1)
        print("%u drivers have died; without one for %u us at most\n", s.drivers - 1, s.longest_outage_us);
    return true;
}

} // namespace shell
