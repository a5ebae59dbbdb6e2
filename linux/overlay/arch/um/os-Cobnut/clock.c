// SPDX-License-Identifier: GPL-2.0
/*
 * The clock: the time-stamp counter, at the rate that the microkernel has measured. Linux, its
 * scheduler, its timers (events.c) and programs (vdso-clock.c) read the same, and none of them enters
 * the microkernel, whose own clock is that counter in microseconds.
 */
#include <linux/clocksource.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>
#include <asm/timex.h>
#include <l4/kip.h>
#include <l4/schedule.h>
#include <os.h>
#include "cobnut.h"

#define ROOM_S	600	/* as Linux asks for its clock source: so the timers' clock has the same factor */

unsigned int os_clock_khz;
static u64 begin_ticks, begin_ns;
static u32 mult, shift;

/* since the microkernel's start */
long long notrace os_nsecs(void)
{
	return begin_ns + mul_u64_u32_shr(clock_ticks() - begin_ticks, mult, shift);
}

/* Of the scheduler, and so of what a process has run; the usual one is that of ticks. */
unsigned long long notrace sched_clock(void)
{
	return os_nsecs();
}

long long os_persistent_clock_emulation(void)
{
	const u64 us = (u64)server_boot->clock_high << 32 | server_boot->clock;

	return (u64)server_boot->time * NSEC_PER_SEC + os_nsecs() - us * NSEC_PER_USEC;
}

void __init clock_start(void)
{
	L4_Word_t low, high;

	os_clock_khz = L4_ProcDescInternalFreq(L4_ProcDesc(L4_GetKernelInterface(), 0));
	clocks_calc_mult_shift(&mult, &shift, os_clock_khz, NSEC_PER_MSEC, ROOM_S * MSEC_PER_SEC);
	__L4_Raw_SystemClock(&low, &high);
	begin_ns = ((u64)high << 32 | low) * NSEC_PER_USEC;
	begin_ticks = clock_ticks();
}
