/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of POSIX' <fcntl.h>: whether a socket waits. */
#ifndef COBNUT_FCNTL_H
#define COBNUT_FCNTL_H

#define F_GETFL 3
#define F_SETFL 4
#define O_RDWR 2
#define O_NONBLOCK 04000

#ifdef __cplusplus
extern "C" {
#endif
int fcntl(int fd, int command, ...);
#ifdef __cplusplus
}
#endif
#endif
