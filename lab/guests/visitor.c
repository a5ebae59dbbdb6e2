/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client for web servers of this machine, by connections that are kept alive.
 *
 * `visitor PORT TIMES TEXT PATH ANSWER [PATH ANSWER ...]` asks for each PATH once, and then twice says `TEXT N now`, N
 * the number of the path from 0 on, and asks TIMES; behind that it says `TEXT N done`. Each answer has to have status
 * 200, and ANSWER as its whole body.
 *
 * `visitor PORT crowd CONNECTIONS SECONDS PATH ANSWER` has so many connections at once, all open before the first
 * request. Three times all of them ask before the first answer is read; each answer has to be there SECONDS later at
 * most. It says how many were refused, how many answers there were, and the longest that one took.
 *
 * The status is 1, with a line on stderr, if something is not as it has to be.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 4096, ROUNDS = 3, MORE_FILES = 64 };

static unsigned short port;

static void fail(const char *what)
{
    fprintf(stderr, "visitor: %s (%s)\n", what, strerror(errno));
    exit(1);
}

static int connected(void)
{
    const struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int at = socket(AF_INET, SOCK_STREAM, 0);
    if (at < 0) fail("no socket");
    if (connect(at, (const struct sockaddr *)&server, sizeof server)) {
        close(at);
        return -1;
    }
    return at;
}

static void ask(int at, const char *path)
{
    char request[ROOM];
    const int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    if (length >= ROOM || write(at, request, length) != length) fail("a request cannot be sent");
}

/* Where the body begins, or null if the head is not whole yet. */
static const char *body_of(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n");
    return end ? end + 4 : 0;
}

/* Takes a body in chunks apart, in place; null if it is not whole yet. */
static char *unchunked(char *body)
{
    char *from = body, *to = body, *end;
    for (;;) {
        const size_t size = strtoul(from, &end, 16);
        if (strncmp(end, "\r\n", 2) || strlen(end) < size + 4) return 0;
        if (size == 0) break;
        memmove(to, end + 2, size);
        to += size;
        from = end + 2 + size + 2;
    }
    *to = 0;
    return body;
}

/* Whether an answer is whole, which then has to be the right one. */
static int answered(char *text, const char *wanted)
{
    char copy[ROOM];
    const char *body = body_of(text), *length;
    if (!body) return 0;
    strcpy(copy, body);
    if (strstr(text, "Transfer-Encoding: chunked")) {
        if (!unchunked(copy)) return 0;
    } else {
        length = strstr(text, "Content-Length: ");
        if (!length || length > body) fail("an answer without a length");
        if (strlen(copy) < strtoul(length + 16, 0, 10)) return 0;
    }
    if (strncmp(text, "HTTP/1.1 200 ", 13) || strcmp(copy, wanted)) {
        fprintf(stderr, "visitor: not what was wanted:\n%s\n", text);
        exit(1);
    }
    return 1;
}

static void receive(int at, const char *wanted)
{
    char text[ROOM];
    int have = 0;
    do {
        const int got = read(at, text + have, ROOM - 1 - have);
        if (got <= 0) fail("the connection has ended");
        have += got;
        text[have] = 0;
    } while (!answered(text, wanted));
}

/* At once: others look when it is said. */
static void say(const char *text, int number, const char *what)
{
    char line[100];
    const int length = snprintf(line, sizeof line, "%s %d %s\n", text, number, what);
    if (write(1, line, length) != length) fail("nothing can be said");
}

static void visit(int at, const char *path, const char *wanted)
{
    ask(at, path);
    receive(at, wanted);
}

static int measured(int times, const char *text, int paths, char **words)
{
    const int at = connected();
    if (at < 0) fail("no connection");
    for (int one = 0; one < paths; one++) {
        const char *path = words[2 * one], *wanted = words[2 * one + 1];
        visit(at, path, wanted);
        for (int loop = 0; loop < 2; loop++) {
            say(text, one, "now");
            for (int i = 0; i < times; i++) visit(at, path, wanted);
        }
        say(text, one, "done");
    }
    return 0;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int crowd(int connections, double seconds, const char *path, const char *wanted)
{
    const struct rlimit files = {connections + MORE_FILES, connections + MORE_FILES};
    int *at = calloc(connections, sizeof *at), refused = 0, count = 0;
    double longest = 0, took, *asked = calloc(connections, sizeof *asked);
    if (setrlimit(RLIMIT_NOFILE, &files)) fail("too few files");
    for (int i = 0; i < connections; i++) refused += (at[i] = connected()) < 0;
    for (int round = 0; round < ROUNDS && !refused; round++) {
        for (int i = 0; i < connections; i++) {
            asked[i] = now();
            ask(at[i], path);
        }
        for (int i = 0; i < connections; i++, count++) {
            receive(at[i], wanted);
            took = now() - asked[i];
            if (took > longest) longest = took;
        }
    }
    printf("%d connections, %d refused, %d answers, longest %.3f s\n", connections, refused, count, longest);
    return refused || longest > seconds;
}

int main(int count, char **words)
{
    if (count < 6) return 2;
    port = atoi(words[1]);
    setvbuf(stdout, 0, _IOLBF, 0);
    if (strcmp(words[2], "crowd") == 0) return crowd(atoi(words[3]), atof(words[4]), words[5], words[6]);
    return measured(atoi(words[2]), words[3], (count - 4) / 2, words + 4);
}
