// SPDX-License-Identifier: BSD-2-Clause
// TCP/IP in a space of its own: lwIP, between the card's driver and those that use sockets. One thread does all of it
// but wait for the driver.
#include "alarm.h"
#include "link.h"
#include "sockets.h"

#include <system/server.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>
#include <lwip/init.h>
#include <lwip/ip4_addr.h>
#include <lwip/timeouts.h>

namespace {

using rpc::Word;

struct Server {
    rpc::Result<Network::State> handle(Network::Describe, rpc::Client &)
    {
        Network::State state = the_link.state();
        state.sockets = the_sockets.count();
        return state;
    }
    template <typename Op, typename... A> auto handle(Op, rpc::Client &client, const A &...arguments)
    {
        return the_sockets.handle(Op{}, client, arguments...);
    }

    void notified()
    {
        if (the_alarm.rang()) check_times();
        else the_link.notified();
    }
    void left(Word program) { the_sockets.left(program); }

    void before_answer()
    {
        the_sockets.look_at_pollers();
        the_link.flush();
    }

private:
    static void check_times()
    {
        sys_check_timeouts();
        const Word poll_ms = the_sockets.check_pollers_times(), lwip_ms = sys_timeouts_sleeptime();
        the_alarm.set(poll_ms < lwip_ms ? poll_ms : lwip_ms);
    }
};

constinit Server server;

/// An address of the command line: 0 if it is not there, and false if it is none.
bool read_address(const cobnut::Options &options, const char *key, Word &address)
{
    const cobnut::Text text = options.find(key);
    char name[16] = {};
    if (!text) return true;
    if (text.size >= sizeof name) return false;
    for (size_t i = 0; i < text.size; i++) name[i] = text.data[i];
    ip4_addr_t read;
    if (!ip4addr_aton(name, &read)) return false;
    address = read.addr;
    return true;
}

} // namespace

int cobnut_main(const char *command_line)
{
    const cobnut::Options options(command_line);
    Network::Addresses addresses = {};
    if (!read_address(options, "address", addresses.address) || !read_address(options, "mask", addresses.mask) ||
        !read_address(options, "gateway", addresses.gateway)) {
        cobnut_printf("network: what is not an address is among: %s\n", command_line);
        return 1;
    }
    lwip_init();
    if (!the_link.begin(addresses) || !the_alarm.begin()) return 2;
    cobnut::serve(server, Network::Operations{});
}
