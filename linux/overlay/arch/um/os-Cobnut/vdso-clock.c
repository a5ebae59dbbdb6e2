// SPDX-License-Identifier: GPL-2.0
/* The clock for programs, in the image that they have of the kernel (vdso-code.S, vdso.lds). */
#define BUILD_VDSO32
#include <linux/time.h>
#include <linux/types.h>
#include "../../../lib/vdso/gettimeofday.c"

int __vdso_gettimeofday(struct __kernel_old_timeval *time, struct timezone *zone)
{
	return __cvdso_gettimeofday(time, zone);
}

__kernel_old_time_t __vdso_time(__kernel_old_time_t *time)
{
	return __cvdso_time(time);
}

int __vdso_clock_gettime(clockid_t clock, struct old_timespec32 *time)
{
	return __cvdso_clock_gettime32(clock, time);
}

int __vdso_clock_gettime64(clockid_t clock, struct __kernel_timespec *time)
{
	return __cvdso_clock_gettime(clock, time);
}

int __vdso_clock_getres(clockid_t clock, struct old_timespec32 *resolution)
{
	return __cvdso_clock_getres_time32(clock, resolution);
}
