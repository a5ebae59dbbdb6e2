/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of checks, each of which is one line. */
#ifndef COBNUT_LINUX_GUESTS_CHECK_H
#define COBNUT_LINUX_GUESTS_CHECK_H
#include <stdio.h>

static int failed; /* how many are not as they have to be */
#define CHECK(what, good)                                                                                              \
    do {                                                                                                               \
        int ok_ = (good);                                                                                              \
        printf("%s: %s\n", ok_ ? "ok" : "FAIL", what);                                                                 \
        failed += !ok_;                                                                                                \
    } while (0)

#endif
