/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of the standard's <time.h>. */
#ifndef COBNUT_C_TIME_H
#define COBNUT_C_TIME_H
#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Since the machine's start. */
time_t time(time_t *now);
#ifdef __cplusplus
}
#endif
#endif
