// SPDX-License-Identifier: BSD-2-Clause
// The driver of the machine's clock. Its interrupts say when a second begins; the kernel's clock counts between them.
#include "rtc.h"
#include "sleepers.h"

#include <interfaces/clock.h>
#include <system/server.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

namespace {

using rpc::Error, rpc::Nothing, rpc::Result, rpc::Word;

constexpr L4_Word64_t a_second_us = 1'000'000;

struct Server {
    using Client = rpc::Client;

    Result<Clock::Time> handle(Clock::Now, Client &)
    {
        if (!known) return Error::failed;
        const L4_Word64_t since = L4_SystemClock().raw - began_us;
        // the interrupt of the second that begins may be on its way
        return Clock::Time{second, static_cast<Word>(since < a_second_us ? since : a_second_us - 1)};
    }

    Result<Nothing> handle(Clock::Sleep, Client &client, Word microseconds)
    {
        return sleepers.add(client, L4_SystemClock().raw + microseconds) ? Error::later : Error::full;
    }

    void interrupted(Word)
    {
        if (rtc::acknowledge()) note();
    }

    void note()
    {
        known = rtc::read(second);
        began_us = L4_SystemClock().raw;
    }

    L4_Time_t patience()
    {
        const L4_Word64_t now = L4_SystemClock().raw;
        sleepers.remove([now](const Client &client, L4_Word64_t at) {
            if (at > now) return false;
            rpc::answer<Clock::Sleep>(client.thread, Nothing{});
            return true;
        });
        const L4_Word64_t next = sleepers.next();
        return next ? L4_TimePeriod(next - now) : L4_Never;
    }

    void left(Word program)
    {
        sleepers.remove([program](const Client &client, L4_Word64_t) { return client.program == program; });
    }

    Sleepers sleepers;
    bool known = false;
    Word second = 0;          ///< since 1970
    L4_Word64_t began_us = 0; ///< when that second began, by the kernel's clock
};

constinit Server server;

} // namespace

int cobnut_main(const char *)
{
    if (!cobnut::ask_init<init::TakeInterrupt>(Word{rtc::line}) || !rtc::begin()) return 1;
    server.note();
    cobnut::serve(server, Clock::Operations{});
}
