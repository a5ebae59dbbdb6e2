/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of POSIX' <sys/time.h>. */
#ifndef COBNUT_C_SYS_TIME_H
#define COBNUT_C_SYS_TIME_H
#include <sys/types.h>

typedef long time_t;
typedef long suseconds_t;
struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};

#ifdef __cplusplus
extern "C" {
#endif
/* Since the machine's start: nobody has told it the date. */
int gettimeofday(struct timeval *now, void *zone);
#ifdef __cplusplus
}
#endif
#endif
