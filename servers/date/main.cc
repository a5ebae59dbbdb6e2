// SPDX-License-Identifier: BSD-2-Clause
// Says the date. Arguments: `times=N`, so often, a second apart (1).
#include <interfaces/clock.h>
#include <system/calendar.h>
#include <system/system.h>

#include <cobnut/options.h>
#include <cobnut/payload.h>
#include <l4/schedule.h>

int cobnut_main(const char *arguments)
{
    static constinit cobnut::Session clock("clock");
    const unsigned times = cobnut::Options(arguments).number("times", 1);
    for (unsigned i = 0; i < times; i++) {
        const L4_Word64_t before = L4_SystemClock().raw;
        if (i && (!clock.call<Clock::Sleep>(1'000'000u) || L4_SystemClock().raw - before < 1'000'000)) return 2;
        const auto now = clock.call<Clock::Now>();
        if (!now) {
            cobnut_printf("date: %s\n", rpc::describe(now.error));
            return 1;
        }
        const cobnut::Date d = cobnut::date_of(now.value.seconds);
        cobnut_printf("%04u-%02u-%02u %02u:%02u:%02u.%06u\n", d.year, d.month, d.day, d.hour, d.minute, d.second,
                      now.value.microseconds);
    }
    return 0;
}
