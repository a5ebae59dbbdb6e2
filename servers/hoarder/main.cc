// SPDX-License-Identifier: BSD-2-Clause
// Makes as many dataspaces as it can get, and takes what becomes free: for checks of what happens to others then.
#include <system/system.h>

#include <cobnut/payload.h>
#include <l4/schedule.h>

int cobnut_main(const char *)
{
    for (;;) {
        while (cobnut::ask_init<init::Create>(rpc::Word{1})) {}
        L4_Sleep(L4_TimePeriod(1000));
    }
}
