/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX' <sys/uio.h>: a part of what sendmsg() sends. */
#ifndef COBNUT_SYS_UIO_H
#define COBNUT_SYS_UIO_H
#include <sys/types.h>

struct iovec {
    void *iov_base;
    size_t iov_len;
};

#endif
