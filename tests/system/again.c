/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says "hello" to each client, ends its own side, and waits for the client's end; when the network has died and been
   started again, it begins anew. */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_listener(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7777), .sin_addr = {INADDR_ANY}};
    for (;;) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 5) == 0) return fd;
        usleep(10000);
    }
}

static void greet(int fd)
{
    char data[64];
    ssize_t got, all = 0;
    send(fd, "hello\n", 6, 0);
    shutdown(fd, SHUT_WR);
    while ((got = recv(fd, data, sizeof data, 0)) > 0) all += got;
    struct pollfd one = {fd, POLLIN, 0};
    poll(&one, 1, -1);
    printf("again: %d bytes, then %d%s\n", (int)all, (int)got, one.revents & POLLHUP ? ", hung up" : "");
    close(fd);
}

int main(void)
{
    for (;;) {
        struct pollfd one = {open_listener(), POLLIN, 0};
        printf("again: ready\n");
        while (poll(&one, 1, -1) >= 0) greet(accept(one.fd, NULL, NULL));
        poll(&one, 1, 0); /* a descriptor that is none any more */
    }
}
