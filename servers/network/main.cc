// SPDX-License-Identifier: BSD-2-Clause
// TCP/IP in a space of its own: lwIP, between the card's driver and those that use sockets. One thread does all of it
// but wait for the driver.
#include "link.h"
#include "sockets.h"

#include <system/server.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>
#include <cobnut/program.h>
#include <l4/schedule.h>
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

    void notified() { the_link.notified(); }
    void left(Word program) { the_sockets.left(program); }

    L4_Time_t patience()
    {
        sys_check_timeouts();
        const Word poll_ms = the_sockets.look_at_pollers(), lwip_ms = sys_timeouts_sleeptime();
        the_link.flush();
        const Word ms = poll_ms < lwip_ms ? poll_ms : lwip_ms;
        return ms == ~Word{0} ? L4_Never : L4_TimePeriod(static_cast<L4_Word64_t>(ms) * 1000 + 1);
    }
};

constinit Server server;
constinit unsigned random_state = 0;

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

extern "C" u32_t sys_now(void) { return static_cast<u32_t>(L4_SystemClock().raw / 1000); }

/// Numbers that are spread well; whoever knows the time of the start can guess them.
extern "C" unsigned network_random(void)
{
    if (!random_state) random_state = static_cast<unsigned>(L4_SystemClock().raw) | 1;
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

extern "C" void network_failed(const char *what, int line, const char *file)
{
    cobnut_printf("network: %s:%d: %s\n", file, line, what);
    cobnut::exit(3);
}

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
    if (!the_link.begin(addresses)) return 2;
    cobnut::serve(server, Network::Operations{});
}
