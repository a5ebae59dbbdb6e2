// SPDX-License-Identifier: BSD-2-Clause
// Calls that the laboratory measures (cobnut/lab.h): case 1 by bare IPC to a server without an interface, case 2 by a
// stub without arguments, case 3 by one with two words and an answer.
#include <interfaces/adder.h>
#include <system/system.h>

#include <cobnut/payload.h>
#include <cobnut/rounds.h>

namespace {

constexpr unsigned rounds = 100;

template <typename Call> void measure(unsigned number, Call call)
{
    cobnut::measure_rounds<rounds, rounds>(number, [&](unsigned) { call(); });
}

L4_ThreadId_t find(const char *service) { return {.raw = cobnut::ask_init<init::Open>(init::Name(service)).value}; }

} // namespace

int cobnut_main(const char *)
{
    const L4_ThreadId_t bare = find("bare"), adder = find("adder");
    int failed = 0;
    measure(1, [&] {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
        failed += L4_IpcFailed(L4_Call(bare));
    });
    measure(2, [&] { failed += !rpc::call<Adder::Null>(adder); });
    measure(3, [&] { failed += rpc::call<Adder::Add>(adder, 2u, 3u).value != 5; });
    return failed;
}
