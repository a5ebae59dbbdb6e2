// SPDX-License-Identifier: BSD-2-Clause
// What root starts in a space of its own. Its result goes to root, which prints it; 0 is success.
#include <cobnut/program.h>
#include <l4/ipc.h>
#include <l4/schedule.h>

int cobnut_main(const char *command_line)
{
    cobnut::print("@NAME@: hello, started as: %s\n", command_line);
    cobnut::print("@NAME@: I am thread %u, my pager is thread %u\n", L4_ThreadNo(L4_Myself()), L4_ThreadNo(L4_Pager()));
    L4_Sleep(L4_TimePeriod(10000)); // microseconds
    cobnut::print("@NAME@: %llu us after the start of the clock\n", L4_SystemClock().raw);
    return 0;
}
