/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What clients of an X server draw: `relay LAST` is display :1 for them and passes all to and fro to display :0. When a
 * client has gone that put images on the screen (PutImage), it says `LAST images, DIFFERENT, HASH`: how many of the
 * last LAST of them differ from the one before, and a hash (FNV-1a) over their pixels. Clients have to be
 * little-endian, and must not have MIT-SHM, whose images do not come by here.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PUT_IMAGE = 72, PUT_IMAGE_HEADER = 24, SETUP_HEADER = 12, ROOM = 1 << 16, MOST_REQUEST = 1 << 24, MOST = 4096 };

static unsigned char request[MOST_REQUEST]; /* what has come of the one that is not whole yet */
static size_t have;
static uint64_t hashes[MOST]; /* of each image */
static int images, last, is_set_up;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t hashed(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001B3;
    return hash;
}

static uint32_t padded(uint32_t size) { return (size + 3) & ~3u; }

static uint32_t word(size_t at) { return request[at] | request[at + 1] << 8; }

/* The size in bytes of what the client sends next, or 0 while too little of it is there. A request of the extension
 * BIG-REQUESTS has no length in its first word, but a word of its own with it.
 */
static size_t size_of_next(void)
{
    if (!is_set_up) return have < SETUP_HEADER ? 0 : SETUP_HEADER + padded(word(6)) + padded(word(8));
    if (have < 8) return have >= 4 && word(2) ? 4 * word(2) : 0;
    return 4 * (size_t)(word(2) ? word(2) : word(4) | word(6) << 16);
}

static void seen(size_t size)
{
    const size_t header = PUT_IMAGE_HEADER + (word(2) ? 0 : 4);
    if (is_set_up && request[0] == PUT_IMAGE)
        hashes[images++ % MOST] = hashed(0xCBF29CE484222325, request + header, size - header);
    is_set_up = 1;
    have -= size;
    memmove(request, request + size, have);
}

static void look(const void *data, size_t size)
{
    if (have + size > sizeof request) exit(1);
    memcpy(request + have, data, size);
    have += size;
    for (size_t next; (next = size_of_next()) && next <= have;) seen(next);
}

/* Passes on what there is, and returns its size, 0 at the end. */
static size_t pass(int from, int to, int is_client)
{
    static unsigned char data[ROOM];
    const ssize_t size = read(from, data, sizeof data);
    if (size <= 0) return 0;
    for (ssize_t done = 0, more; done < size; done += more)
        if ((more = write(to, data + done, size - done)) <= 0) return 0;
    if (is_client) look(data, size);
    return size;
}

static int display(int number, int (*as)(int, const struct sockaddr *, socklen_t))
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int at = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(name.sun_path, sizeof name.sun_path, "/tmp/.X11-unix/X%d", number);
    if (at < 0 || as(at, (const struct sockaddr *)&name, sizeof name)) fail(name.sun_path);
    return at;
}

static void serve(int client)
{
    const int server = display(0, connect);
    struct pollfd both[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    do {
        if (poll(both, 2, -1) < 0) fail("poll");
    } while ((!both[0].revents || pass(client, server, 1)) && (!both[1].revents || pass(server, client, 0)));
}

static void say_what_was_seen(void)
{
    uint64_t hash = 0;
    int different = 0;
    if (images <= last) return;
    for (int i = images - last; i < images; i++) {
        different += hashes[i % MOST] != hashes[(i - 1) % MOST];
        hash = hashed(hash, &hashes[i % MOST], sizeof hash);
    }
    printf("%d images, %d, %016llx\n", last, different, (unsigned long long)hash);
}

int main(int count, char **words)
{
    int listening;
    if (count != 2 || (last = atoi(words[1])) < 1 || last >= MOST) return 2;
    listening = display(1, bind);
    if (listen(listening, 4)) fail("listen");
    for (;;) {
        const int client = accept(listening, 0, 0);
        if (client < 0) fail("accept");
        if (fork() == 0) {
            serve(client);
            say_what_was_seen();
            return 0;
        }
        close(client);
    }
}
