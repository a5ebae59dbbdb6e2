// SPDX-License-Identifier: BSD-2-Clause
// A client that does not live long, of which `checks` sees how its server hears of its end. It ends with the number of
// the first thing that is not as it should be, 0: none.
#include <interfaces/adder.h>
#include <system/system.h>

#include <cobnut/payload.h>

int cobnut_main(const char *)
{
    cobnut::Session adder("adder");
    const auto clients = adder.call<Adder::Clients>();
    if (!clients || clients.value != 2) return 1;
    if (cobnut::ask_init<init::Kill>(rpc::Word{0}).error != rpc::Error::denied) return 2;
    if (cobnut::ask_init<init::Describe>(rpc::Word{0}).error != rpc::Error::denied) return 3;
    return 0;
}
