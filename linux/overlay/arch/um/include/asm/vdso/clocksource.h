/* SPDX-License-Identifier: GPL-2.0 */
/* What a vdso can read by itself: the time-stamp counter (os-Cobnut/clock.c). */
#ifndef __UM_VDSO_CLOCKSOURCE_H
#define __UM_VDSO_CLOCKSOURCE_H

#define VDSO_ARCH_CLOCKMODES	VDSO_CLOCKMODE_TSC

#endif
