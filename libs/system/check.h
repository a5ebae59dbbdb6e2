// SPDX-License-Identifier: BSD-2-Clause
// For programs that check what a system promises: a line for each check, and how many have failed.
#pragma once

#include <cobnut/payload.h>
#include <l4/ipc.h>

namespace cobnut {

inline constinit int failed_checks = 0;

inline void check(bool holds, const char *what)
{
    cobnut_printf("%s %s\n", holds ? "ok" : "FAIL", what);
    failed_checks += !holds;
}

/// Whether it comes true within so many milliseconds.
template <typename Condition> bool comes_true(int within_ms, Condition condition)
{
    for (; within_ms > 0 && !condition(); within_ms--) L4_Sleep(L4_TimePeriod(1000));
    return condition();
}

} // namespace cobnut
