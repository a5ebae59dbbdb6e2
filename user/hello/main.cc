// SPDX-License-Identifier: BSD-2-Clause
// The smallest payload: says who and where it is, and that time passes.
#include <cobnut/options.h>
#include <cobnut/program.h>
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/schedule.h>

int cobnut_main(const char *command_line)
{
    const cobnut::Text small = cobnut::Options(command_line).find("small");
    cobnut::print("hello: hello, world\n");
    cobnut::print("hello: I am thread %08x (locally %08x), my pager is %08x\n", L4_MyGlobalId().raw, L4_MyLocalId().raw,
                  L4_Pager().raw);
    if (small) cobnut::print("hello: my space is small (asked for: %.*s)\n", static_cast<int>(small.size), small.data);
    else cobnut::print("hello: my space is large\n");
    cobnut::print("hello: the kernel is %s\n", L4_KernelVersionString(L4_GetKernelInterface()));
    const L4_Clock_t before = L4_SystemClock();
    L4_Sleep(L4_TimePeriod(100000));
    const L4_Clock_t after = L4_SystemClock();
    cobnut::print("hello: at %llu us I slept for 100 ms, now it is %llu us\n", before.raw, after.raw);
    return 0;
}
