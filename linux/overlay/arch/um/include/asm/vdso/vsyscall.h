/* SPDX-License-Identifier: GPL-2.0 */
/* Where kernel/time/vsyscall.c tells programs the time (os-Cobnut/vdso.c). */
#ifndef __UM_VDSO_VSYSCALL_H
#define __UM_VDSO_VSYSCALL_H

#include <linux/timekeeper_internal.h>
#include <vdso/datapage.h>

extern struct vdso_data *const cobnut_vdso_data;

static __always_inline struct vdso_data *__arch_get_k_vdso_data(void)
{
	return cobnut_vdso_data;
}
#define __arch_get_k_vdso_data __arch_get_k_vdso_data

#include <asm-generic/vdso/vsyscall.h>

#endif
