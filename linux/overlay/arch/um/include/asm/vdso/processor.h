/* SPDX-License-Identifier: GPL-2.0 */
/* What a vdso needs of the processor, for vdso/datapage.h: here as everywhere in um. */
#ifndef __UM_VDSO_PROCESSOR_H
#define __UM_VDSO_PROCESSOR_H

#include <asm/processor.h>

#endif
