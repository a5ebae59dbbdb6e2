// SPDX-License-Identifier: BSD-2-Clause
// The other end of Debian's iperf3, on port 5201: a server of its protocol (github.com/esnet/iperf, 3.12,
// src/iperf_server_api.c and iperf_api.c), for one stream of TCP at a time, in either direction, and one client after
// the other. It says how many bytes have gone over the stream, and their CRC-32 (IEEE 802.3), which the other end can
// compare with that of what it has sent or received (iperf3's -F). What it sends is words that count from 0, the upper
// byte first.
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

constexpr int port = 5201;
constexpr size_t cookie_bytes = 37, most_text = 4096, piece = 16384;
constexpr unsigned busy_us = 10'000;

/// What either end says by one byte.
enum State : signed char {
    denied = -1,
    test_start = 1,
    test_running = 2,
    test_end = 4,
    exchange_parameters = 9,
    create_streams = 10,
    exchange_results = 13,
    display_results = 14,
};

/// The checksum so far; that of no bytes is 0.
class Checksum {
public:
    constexpr Checksum()
    {
        for (unsigned i = 0; i < 256; i++) {
            unsigned rest = i;
            for (int bit = 0; bit < 8; bit++) rest = rest >> 1 ^ (rest & 1 ? 0xEDB88320 : 0);
            table_[i] = rest;
        }
    }
    void begin() { rest_ = ~0u; }
    void add(const char *data, size_t size)
    {
        for (size_t i = 0; i < size; i++)
            rest_ = rest_ >> 8 ^ table_[(rest_ ^ static_cast<unsigned char>(data[i])) & 0xFF];
    }
    unsigned value() const { return ~rest_; }

private:
    unsigned table_[256] = {}, rest_ = ~0u;
};

/// One client's test.
struct Test {
    int control = -1, data = -1;
    char cookie[cookie_bytes] = {};
    bool sends = false; ///< this end does (iperf3's -R)
    unsigned bytes = 0, ms = 0; ///< that have gone over the stream; how long that took
};

constinit Checksum checksum;
constinit char text[most_text], buffer[piece];

bool receive_all(int fd, void *to, size_t size)
{
    for (size_t got = 0; got < size;) {
        const ssize_t more = recv(fd, static_cast<char *>(to) + got, size - got, 0);
        if (more <= 0) return false;
        got += static_cast<size_t>(more);
    }
    return true;
}

bool send_all(int fd, const void *from, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t more = send(fd, static_cast<const char *>(from) + sent, size - sent, 0);
        if (more <= 0) return false;
        sent += static_cast<size_t>(more);
    }
    return true;
}

bool tell(const Test &test, State state) { return send_all(test.control, &state, 1); }

/// JSON behind its length, into `text`.
bool receive_text(const Test &test)
{
    unsigned size;
    if (!receive_all(test.control, &size, sizeof size)) return false;
    size = ntohl(size);
    if (size >= most_text || !receive_all(test.control, text, size)) return false;
    text[size] = 0;
    return true;
}

/// What stands behind the first "NAME": in `text`; nullptr: nothing does.
const char *value_of(const char *name)
{
    const char *const found = strstr(text, name);
    return found ? found + strlen(name) : nullptr;
}

bool is_true(const char *name)
{
    const char *const value = value_of(name);
    return value && !strncmp(value, "true", 4);
}

unsigned number(const char *name)
{
    const char *const value = value_of(name);
    return value ? static_cast<unsigned>(strtol(value, nullptr, 10)) : 0;
}

/// What the client wants; false if that is not here.
bool agree(Test &test)
{
    if (!receive_all(test.control, test.cookie, cookie_bytes) || !tell(test, exchange_parameters)) return false;
    if (!receive_text(test)) return false;
    test.sends = is_true("\"reverse\":");
    if (is_true("\"tcp\":") && number("\"parallel\":") <= 1 && !is_true("\"bidirectional\":")) return true;
    printf("iperf: refused: not one stream of TCP in one direction\n");
    tell(test, denied);
    return false;
}

/// The client's second connection: it begins with the same cookie.
bool open_stream(Test &test, int listener)
{
    if (!tell(test, create_streams)) return false;
    while (test.data < 0) {
        char cookie[cookie_bytes];
        const int fd = accept(listener, nullptr, nullptr);
        if (fd < 0) return false;
        if (receive_all(fd, cookie, sizeof cookie) && !memcmp(cookie, test.cookie, sizeof cookie)) test.data = fd;
        else close(fd);
    }
    return tell(test, test_start) && tell(test, test_running);
}

/// Takes what has come; false: the stream has ended.
bool take(Test &test)
{
    const ssize_t got = recv(test.data, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    checksum.add(buffer, static_cast<size_t>(got));
    test.bytes += static_cast<unsigned>(got);
    return true;
}

/// Sends as much as the client takes; false: the stream has ended.
bool give(Test &test)
{
    const unsigned first = test.bytes / 4, before = test.bytes % 4;
    for (unsigned i = 0; i < piece / 4; i++) {
        const unsigned word = htonl(first + i);
        memcpy(buffer + i * 4, &word, 4);
    }
    const ssize_t sent = send(test.data, buffer + before, sizeof buffer - before, MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN;
    checksum.add(buffer + before, static_cast<size_t>(sent));
    test.bytes += static_cast<unsigned>(sent);
    return true;
}

/// Until the client says that it has sent or received what it wanted.
bool transfer(Test &test)
{
    for (;;) {
        const short wanted = test.sends ? POLLOUT : POLLIN;
        pollfd fds[] = {{test.control, POLLIN, 0}, {test.data, wanted, 0}};
        if (poll(fds, 2, -1) < 0) {
            if (errno != EBUSY) return false;
            usleep(busy_us); // too many others wait
            continue;
        }
        if (fds[1].revents & wanted && !(test.sends ? give(test) : take(test))) return false;
        if (!fds[0].revents) continue;
        signed char state;
        return receive_all(test.control, &state, 1) && state == test_end;
    }
}

/// What each end has counted. What the client has sent and is still on its way is waited for; what this end has sent
/// the client reads until the stream ends.
bool compare(Test &test)
{
    if (test.sends) shutdown(test.data, SHUT_WR);
    if (!tell(test, exchange_results) || !receive_text(test)) return false;
    const unsigned bytes = number("\"bytes\":"), stream = number("\"id\":");
    while (!test.sends && test.bytes < bytes)
        if (!take(test)) return false;
    const int size = snprintf(text + 4, sizeof text - 4,
                              "{\"cpu_util_total\":0,\"cpu_util_user\":0,\"cpu_util_system\":0,"
                              "\"sender_has_retransmits\":0,\"streams\":[{\"id\":%u,\"bytes\":%u,\"retransmits\":-1,"
                              "\"jitter\":0,\"errors\":0,\"packets\":0,\"start_time\":0,\"end_time\":%u.%03u}]}",
                              stream, test.bytes, test.ms / 1000, test.ms % 1000);
    const unsigned head = htonl(static_cast<unsigned>(size));
    memcpy(text, &head, sizeof head);
    signed char last;
    if (!send_all(test.control, text, static_cast<size_t>(size) + 4) || !tell(test, display_results)) return false;
    receive_all(test.control, &last, 1); // the client has seen it, or is gone
    return true;
}

unsigned now_ms()
{
    timeval now;
    gettimeofday(&now, nullptr);
    return static_cast<unsigned>(now.tv_sec) * 1000 + static_cast<unsigned>(now.tv_usec) / 1000;
}

bool run(Test &test, int listener)
{
    if (!agree(test) || !open_stream(test, listener)) return false;
    checksum.begin();
    const unsigned begun = now_ms();
    const bool done = transfer(test);
    test.ms = now_ms() - begun;
    return done && compare(test);
}

void serve(int listener, int control)
{
    Test test;
    test.control = control;
    if (run(test, listener))
        printf("iperf: %u bytes %s, checksum %08x, %u ms\n", test.bytes, test.sends ? "sent" : "received",
               checksum.value(), test.ms);
    else printf("iperf: a test has not been finished\n");
    if (test.data >= 0) close(test.data);
    close(control);
}

} // namespace

extern "C" int main(int, char **)
{
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) < 0 ||
        listen(listener, SOMAXCONN) < 0) {
        perror("iperf");
        return 1;
    }
    for (int fd; (fd = accept(listener, nullptr, nullptr)) >= 0;) serve(listener, fd);
    perror("iperf");
    return 1;
}
