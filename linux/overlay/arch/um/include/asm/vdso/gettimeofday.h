/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the vdso would read a clock: it has none. vdso/datapage.h, of which time namespaces need the
 * types, includes this; without it they would be those of the processor's own kernel.
 */
#ifndef __UM_VDSO_GETTIMEOFDAY_H
#define __UM_VDSO_GETTIMEOFDAY_H

#endif
