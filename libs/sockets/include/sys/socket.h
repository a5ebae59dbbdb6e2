/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX' <sys/socket.h>, for IPv4. Sockets belong to a program; its threads share descriptors and errno, and one of
   them at a time may call. Results are those of POSIX; what differs is said where it does. */
#ifndef COBNUT_SYS_SOCKET_H
#define COBNUT_SYS_SOCKET_H
#include <sys/types.h>
#include <sys/uio.h>

typedef unsigned int socklen_t;
typedef unsigned short sa_family_t;

struct sockaddr {
    sa_family_t sa_family;
    char sa_data[14];
};
struct sockaddr_storage {
    sa_family_t ss_family;
    char ss_rest[126];
};

struct msghdr {
    void *msg_name;
    socklen_t msg_namelen;
    struct iovec *msg_iov;
    size_t msg_iovlen;
    void *msg_control; /* there is none */
    size_t msg_controllen;
    int msg_flags;
};

#define AF_UNSPEC 0
#define AF_INET 2
#define PF_INET AF_INET
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_NONBLOCK 04000
#define SOL_SOCKET 1
#define SO_REUSEADDR 2
#define SO_TYPE 3
#define SO_ERROR 4
#define SO_BROADCAST 6
#define SO_SNDBUF 7
#define SO_RCVBUF 8
#define SO_KEEPALIVE 9
#define SOMAXCONN 128
#define MSG_PEEK 2
#define MSG_DONTWAIT 0x40
#define MSG_NOSIGNAL 0x4000
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2

#ifdef __cplusplus
extern "C" {
#endif
int socket(int family, int type, int protocol);
int bind(int fd, const struct sockaddr *address, socklen_t size);
int listen(int fd, int backlog);
int accept(int fd, struct sockaddr *address, socklen_t *size);
int connect(int fd, const struct sockaddr *address, socklen_t size);
/* A stream's data is all sent before it returns, unless the socket does not wait. */
ssize_t send(int fd, const void *from, size_t size, int flags);
ssize_t sendto(int fd, const void *from, size_t size, int flags, const struct sockaddr *to, socklen_t to_size);
/* Sends several parts as one; one datagram, if it is no stream. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t recv(int fd, void *to, size_t size, int flags);
ssize_t recvfrom(int fd, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *from_size);
int shutdown(int fd, int how);
int getsockname(int fd, struct sockaddr *address, socklen_t *size);
int getpeername(int fd, struct sockaddr *address, socklen_t *size);
/* SO_REUSEADDR, SO_KEEPALIVE, TCP_NODELAY; SO_BROADCAST, SO_SNDBUF and SO_RCVBUF are taken and change nothing. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t size);
/* SO_ERROR, SO_TYPE. */
int getsockopt(int fd, int level, int option, void *value, socklen_t *size);
#ifdef __cplusplus
}
#endif
#endif
