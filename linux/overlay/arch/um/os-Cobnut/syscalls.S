/* SPDX-License-Identifier: GPL-2.0 */
/* The doors to the microkernel, as its own programs have them. */
#include <lib/ia32/syscall.S>
