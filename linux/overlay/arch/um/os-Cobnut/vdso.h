/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __COBNUT_VDSO_H
#define __COBNUT_VDSO_H

/* offsets in the image of what vdso-code.S has */
#define VDSO_ENTRY	0x800	/* as asm/elf.h */
#define VDSO_BRANCH	0x808	/* "jae" to the int */
#define VDSO_SYSENTER	0x816
#define VDSO_LRET	0x818
#define VDSO_BACK	0x81B	/* behind the int */

#define VDSO_FRAME	8	/* bytes of what lret takes */

#define MOST_CALLS	0x4000	/* by sysenter: what is not below is no number of a call to the microkernel */

#endif
