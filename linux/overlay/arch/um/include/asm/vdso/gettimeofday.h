/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How lib/vdso/gettimeofday.c, which os-Cobnut/vdso-clock.c compiles for programs, reads the counter
 * and makes a call. The two pages of data are where os-Cobnut/vdso.lds says.
 */
#ifndef __UM_VDSO_GETTIMEOFDAY_H
#define __UM_VDSO_GETTIMEOFDAY_H

#include <asm/timex.h>
#include <asm/unistd_32.h>

#define VDSO_HAS_TIME		1
#define VDSO_HAS_CLOCK_GETRES	1

static __always_inline const struct vdso_data *__arch_get_vdso_data(void)
{
	return _vdso_data;
}

static __always_inline
const struct vdso_data *__arch_get_timens_vdso_data(const struct vdso_data *data)
{
	return _timens_data;
}

/* There is one processor: what this returns is never before what Linux has read last. */
static __always_inline u64 __arch_get_hw_counter(s32 mode, const struct vdso_data *data)
{
	return clock_ticks();
}

/* All 64 bits of the counter count. */
static __always_inline u64 vdso_calc_delta(u64 ticks, u64 last, u64 mask, u32 mult)
{
	return (ticks - last) * mult;
}
#define vdso_calc_delta vdso_calc_delta

static __always_inline long vdso_call(long number, long first, const void *second)
{
	asm volatile("call __kernel_vsyscall"
		     : "+a" (number) : "b" (first), "c" (second) : "memory");
	return number;
}

static __always_inline
long clock_gettime_fallback(clockid_t clock, struct __kernel_timespec *time)
{
	return vdso_call(__NR_clock_gettime64, clock, time);
}

static __always_inline
long clock_gettime32_fallback(clockid_t clock, struct old_timespec32 *time)
{
	return vdso_call(__NR_clock_gettime, clock, time);
}

static __always_inline
long clock_getres_fallback(clockid_t clock, struct __kernel_timespec *resolution)
{
	return vdso_call(__NR_clock_getres_time64, clock, resolution);
}

static __always_inline
long clock_getres32_fallback(clockid_t clock, struct old_timespec32 *resolution)
{
	return vdso_call(__NR_clock_getres, clock, resolution);
}

static __always_inline
long gettimeofday_fallback(struct __kernel_old_timeval *time, struct timezone *zone)
{
	return vdso_call(__NR_gettimeofday, (long)time, zone);
}

#endif
