/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX' <poll.h>. */
#ifndef COBNUT_POLL_H
#define COBNUT_POLL_H

struct pollfd {
    int fd;
    short events, revents;
};
typedef unsigned int nfds_t;

#define POLLIN 1
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16
#define POLLNVAL 32

#ifdef __cplusplus
extern "C" {
#endif
/* At most 256 descriptors, sockets all of them. */
int poll(struct pollfd *fds, nfds_t count, int ms);
#ifdef __cplusplus
}
#endif
#endif
