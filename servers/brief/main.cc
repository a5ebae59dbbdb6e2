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

/// Passes what it gets, and what begins with this word, on to the adder, and goes on until it is ended.
[[noreturn]] void lend()
{
    constexpr Word mark = 0x1E4D, most_handles = 1000;
    const auto adder = ask_init<init::Open>(init::Name("adder"));
    for (Word handle = 1;; handle = handle % most_handles + 1) {
        if (handle == most_handles) L4_Sleep(L4_TimePeriod(1000));
        const auto at = ask_init<init::Attach>(handle, Word{0}, Word{1});
        if (!at) continue;
        if (*reinterpret_cast<volatile Word *>(at.value) == mark) ask_init<init::Pass>(handle, adder.value, Word{1});
        ask_init<init::Detach>(at.value);
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
    if (wanted == "lend") lend();
    if (wanted == "end") return 0;
    return wanted == "sleep" ? sleep() : wanted == "await" ? await("sleeper") : look();
}
