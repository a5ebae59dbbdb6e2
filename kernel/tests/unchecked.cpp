// SPDX-License-Identifier: BSD-2-Clause
// What the ordinary kernel makes of a check: compiled without COBNUT_CHECKED, unlike the other tests.
#include "core/check.hpp"

int evaluated_without_checks() {
    int evaluated = 0;
    check(++evaluated < 0);
    return evaluated;
}
