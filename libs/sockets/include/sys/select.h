/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX' <sys/select.h>. */
#ifndef COBNUT_SYS_SELECT_H
#define COBNUT_SYS_SELECT_H
#include <sys/time.h>

#define FD_SETSIZE 256
typedef struct {
    unsigned bits[FD_SETSIZE / 32];
} fd_set;

#define FD_ZERO(set) __builtin_memset((set), 0, sizeof(fd_set))
#define FD_SET(fd, set) ((set)->bits[(fd) / 32] |= 1u << ((fd) % 32))
#define FD_CLR(fd, set) ((set)->bits[(fd) / 32] &= ~(1u << ((fd) % 32)))
#define FD_ISSET(fd, set) (((set)->bits[(fd) / 32] >> ((fd) % 32)) & 1u)

#ifdef __cplusplus
extern "C" {
#endif
int select(int count, fd_set *reads, fd_set *writes, fd_set *errors, struct timeval *timeout);
#ifdef __cplusplus
}
#endif
#endif
