/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of POSIX' <sys/types.h>. */
#ifndef COBNUT_C_SYS_TYPES_H
#define COBNUT_C_SYS_TYPES_H
#include <stddef.h>
#include <stdint.h>

typedef int ssize_t;
typedef long off_t;
typedef int pid_t;
typedef unsigned int mode_t;
#endif
