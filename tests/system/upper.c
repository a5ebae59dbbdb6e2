/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small program as they are written for any system with sockets: it says in capitals what it is told, to each of its
   clients, and ends when one of them says "end". The test builds it for this machine, too. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static int open_listener(const char *port)
{
    struct addrinfo hints, *found;
    int fd, on = 1, error;
    memset(&hints, 0, sizeof hints);
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    if ((error = getaddrinfo(NULL, port, &hints, &found)) != 0) {
        fprintf(stderr, "upper: %s\n", gai_strerror(error));
        exit(1);
    }
    fd = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, 5) < 0) {
        perror("upper");
        exit(1);
    }
    freeaddrinfo(found);
    return fd;
}

static int greet(int listener)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    char text[64], *kept;
    const int fd = accept(listener, (struct sockaddr *)&peer, &size);
    if (fd < 0) return fd;
    snprintf(text, sizeof text, "%s says:\n", inet_ntoa(peer.sin_addr));
    kept = malloc(strlen(text) + 1);
    strcpy(kept, text);
    if (write(fd, kept, strlen(kept)) != (ssize_t)strlen(kept)) perror("upper");
    free(kept);
    return fd;
}

int main(int argc, char **argv)
{
    const int listener = open_listener(argc > 1 ? argv[1] : "7777");
    int highest = listener, fd;
    fd_set all;
    FD_ZERO(&all);
    FD_SET(listener, &all);
    printf("%-6s|%5d|%04x\n", "upper", argc, 0xab);
    fflush(stdout);
    for (;;) {
        fd_set ready = all;
        struct timeval second = {1, 0};
        if (select(highest + 1, &ready, NULL, NULL, &second) < 0) {
            perror("select");
            return 1;
        }
        for (fd = 0; fd <= highest; fd++) {
            char data[512];
            ssize_t got, i;
            if (!FD_ISSET(fd, &ready)) continue;
            if (fd == listener) {
                const int made = greet(listener);
                if (made < 0) continue;
                FD_SET(made, &all);
                if (made > highest) highest = made;
                continue;
            }
            got = read(fd, data, sizeof data);
            if (got == 3 && !memcmp(data, "end", 3)) return 42;
            for (i = 0; i < got; i++) data[i] = toupper((unsigned char)data[i]);
            if (got > 0 && write(fd, data, got) == got) continue;
            close(fd);
            FD_CLR(fd, &all);
        }
    }
}
