// SPDX-License-Identifier: BSD-2-Clause
// For programs that check what a system promises: a line for each check, and how many have failed.
#pragma once

#include <cobnut/payload.h>

namespace cobnut {

inline constinit int failed_checks = 0;

inline void check(bool holds, const char *what)
{
    cobnut_printf("%s %s\n", holds ? "ok" : "FAIL", what);
    failed_checks += !holds;
}

} // namespace cobnut
