// SPDX-License-Identifier: BSD-2-Clause
// A server that waits for answers which init puts off, while a client of its ends: init's notice of that must not be
// taken for the answer, and must not be lost. It ends with the number of the first thing that is not as it should be,
// 0: none.
#include <system/system.h>

#include <cobnut/payload.h>

namespace {

using cobnut::ask_init, init::Name, rpc::Word;

// A copy of so many pages takes init longer than a client that ends at once: init goes on with it between messages.
constexpr Word pages = 1792;
constexpr Word sleepers_code = 7;

/// What the next notice says, which must come from init. 0: it is none.
Word next_notice()
{
    L4_ThreadId_t from;
    const L4_MsgTag_t tag = L4_Wait_Timeout(L4_TimePeriod(1'000'000), &from);
    Word who;
    L4_StoreMR(1, &who);
    const bool notice = L4_IpcSucceeded(tag) && from == L4_Pager() && L4_Label(tag) == init::client_gone_label;
    return notice ? who : 0;
}

} // namespace

int cobnut_main(const char *)
{
    const auto made = ask_init<init::Create>(pages);
    const auto client = ask_init<init::Run>(Name("client"));
    const auto copy = ask_init<init::Copy>(made.value);
    if (!made || !client || !copy) return 1;
    if (ask_init<init::Describe>(client.value).value.state != init::State::ended) return 2;
    if (next_notice() != (client.value | 1u << 16)) return 3;

    const auto sleeper = ask_init<init::Run>(Name("sleeper"));
    if (!sleeper || !ask_init<init::Run>(Name("client"))) return 4;
    const auto code = ask_init<init::Await>(sleeper.value);
    if (!code || code.value != sleepers_code) return 5;
    if (next_notice() != (client.value | 2u << 16)) return 6;
    return 0;
}
