// SPDX-License-Identifier: BSD-2-Clause
// A client that does not live long, of which `checks` sees what its end leaves behind. Its argument says what it does;
// without one it ends with the number of the first thing that is not as it should be, 0: none.
#include <interfaces/adder.h>
#include <system/system.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using cobnut::ask_init, rpc::Error, rpc::Word;

int look()
{
    cobnut::Session adder("adder");
    const auto clients = adder.call<Adder::Clients>();
    if (!clients || clients.value != 2) return 1;
    if (ask_init<init::Kill>(Word{0}).error != Error::denied) return 2;
    if (ask_init<init::Describe>(Word{0}).error != Error::denied) return 3;
    return 0;
}

/// Waits for the end of the program with this name.
int await(const char *name)
{
    for (Word i = 0;; i++) {
        const auto program = ask_init<init::Describe>(i);
        if (!program) return 1;
        if (program.value.name == name) return static_cast<int>(ask_init<init::Await>(i).value);
    }
}

int sleep()
{
    L4_Sleep(L4_TimePeriod(300'000));
    return 7;
}

} // namespace

int cobnut_main(const char *what)
{
    const init::Name wanted(what);
    return wanted == "sleep" ? sleep() : wanted == "await" ? await("sleeper") : look();
}
