// SPDX-License-Identifier: BSD-2-Clause
// What lwIP asks of a system, beside what port/ declares.
#include <cobnut/payload.h>
#include <cobnut/program.h>
#include <l4/schedule.h>
#include <lwip/sys.h>

namespace {

constinit unsigned random_state = 0;

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
