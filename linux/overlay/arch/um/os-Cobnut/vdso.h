/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __COBNUT_VDSO_H
#define __COBNUT_VDSO_H

/* offsets in the image of what vdso-code.S has */
#define VDSO_ENTRY	0x600	/* as asm/elf.h */
#define VDSO_BRANCH	0x60C	/* "jae" to the int */
#define VDSO_SYSENTER	0x61A
#define VDSO_LRET	0x61C
#define VDSO_BACK	0x622	/* behind the int */

#define VDSO_FRAME	8	/* bytes of what lret takes */

/* by sysenter: neither 0 nor what is not below is the number of a call to the microkernel */
#define MOST_CALLS	0x4000

#endif
