/* SPDX-License-Identifier: BSD-2-Clause */
/* Says again what it is told, on port 7 of TCP and UDP (RFC 862). Plain C and BSD's sockets; as many connections as
   there are descriptors. A client that does not read holds up nobody: what it does not take yet waits in the
   connection's queue. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { port = 7, most = 200, busy_us = 10000 };

static struct pollfd fds[most];
static int count;
static char data[8192];

static int open_port(int type)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {INADDR_ANY}};
    const int fd = socket(AF_INET, type, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) return -1;
    if (type == SOCK_STREAM && listen(fd, SOMAXCONN) < 0) return -1;
    return fd;
}

static void answer_datagram(int fd)
{
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    const ssize_t got = recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&from, &size);
    if (got >= 0) sendto(fd, data, got, 0, (struct sockaddr *)&from, size);
}

/* Whether the connection goes on. */
static int answer(struct pollfd *one)
{
    const ssize_t got = recv(one->fd, data, sizeof data, MSG_PEEK | MSG_DONTWAIT);
    if (got <= 0) return 0;
    const ssize_t sent = send(one->fd, data, got, MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return 0;
    one->events = sent < got ? POLLOUT : POLLIN;
    return sent < 0 || recv(one->fd, data, sent, 0) == sent;
}

/* Waits for something to happen. 0: there is no network any more. */
static int wait_for_any(void)
{
    while (poll(fds, count, -1) < 0) {
        if (errno != EBUSY) return 0;
        usleep(busy_us); /* too many others wait */
    }
    return !(fds[0].revents & POLLNVAL); /* where another call has found out first, the listener is gone */
}

int main(void)
{
    fds[0] = (struct pollfd){open_port(SOCK_STREAM), POLLIN, 0};
    fds[1] = (struct pollfd){open_port(SOCK_DGRAM), POLLIN, 0};
    count = 2;
    if (fds[0].fd < 0 || fds[1].fd < 0) {
        perror("echo");
        return 1;
    }
    while (wait_for_any()) {
        if (fds[1].revents) answer_datagram(fds[1].fd);
        for (int i = count; --i > 1;) {
            if (!fds[i].revents || answer(&fds[i])) continue;
            close(fds[i].fd);
            fds[i] = fds[--count];
        }
        if (!fds[0].revents) continue;
        const int fd = accept(fds[0].fd, NULL, NULL);
        if (fd >= 0 && count < most) fds[count++] = (struct pollfd){fd, POLLIN, 0};
        else if (fd >= 0) close(fd);
    }
    perror("echo");
    return 1;
}
