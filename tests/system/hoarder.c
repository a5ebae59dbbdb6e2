/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listens at the port of its command line and takes no connection, receives datagrams there and 100 ports further and
   reads none; waits in poll() for something else, for ever. */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static int receive_at(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {INADDR_ANY}};
    address.sin_port = htons((unsigned short)port);
    return bind(socket(AF_INET, SOCK_DGRAM, 0), (struct sockaddr *)&address, sizeof address);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {INADDR_ANY}};
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (argc != 2) return 2;
    address.sin_port = htons((unsigned short)atoi(argv[1]));
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 255) < 0) return 1;
    if (receive_at(atoi(argv[1])) < 0 || receive_at(atoi(argv[1]) + 100) < 0) return 1;
    struct pollfd one = {socket(AF_INET, SOCK_DGRAM, 0), POLLIN, 0};
    if (poll(&one, 1, -1) < 0) perror("hoarder");
    return 1;
}
