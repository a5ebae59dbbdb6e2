// SPDX-License-Identifier: BSD-2-Clause
// HTTP/1.1 (RFC 9112) on port 80: the files of a file server, by GET and HEAD, over connections that go on.
// A client that reads slowly holds up nobody: what it does not take waits with its connection. When all places are
// taken, the next client gets that of the connection with which nothing has happened for longest.
#include <system/files.h>

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr int port = 80, most_connections = 200;
constexpr size_t most_request = 2048;
constexpr unsigned busy_us = 10'000;

/// One connection: what it has asked so far, and what it has not taken yet.
struct Connection {
    char request[most_request] = {};
    size_t size = 0;
    char head[256] = {};
    iovec parts[2] = {}; ///< of the answer, what is left of its head and of the file
    bool keeps = false; ///< it goes on behind the answer
    unsigned turn = 0; ///< when it has last been served

    bool answering() const { return parts[0].iov_len || parts[1].iov_len; }
};

constinit cobnut::FileSystem site;
constinit Connection connections[most_connections];
constinit pollfd fds[most_connections + 1] = {};
constinit nfds_t count = 0;
constinit unsigned turn = 0; ///< one more each time that something has happened

/// A file by its path, without what stands behind a `?`; that of a folder is its index.html.
rpc::Result<cobnut::FileView> find(const char *path, size_t size)
{
    if (const void *const query = memchr(path, '?', size))
        size = static_cast<size_t>(static_cast<const char *>(query) - path);
    constexpr char index[] = "index.html";
    char name[Files::most_path];
    const bool folder = !size || path[size - 1] == '/';
    const size_t more = folder ? sizeof index - 1 : 0;
    if (size + more > sizeof name) return rpc::Error::not_found;
    memcpy(name, path, size);
    memcpy(name + size, index, more);
    const auto file = site.map(Files::Path(name, size + more));
    return file.error == rpc::Error::dead ? site.map(Files::Path(name, size + more)) : file;
}

void reply(Connection &c, const char *status, const char *body, size_t size, bool with_body)
{
    const char *const type = size && *body == '<' ? "text/html" : "application/octet-stream";
    const int head = snprintf(c.head, sizeof c.head,
                              "HTTP/1.1 %s\r\nServer: cobnut\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n",
                              status, type, size, c.keeps ? "" : "Connection: close\r\n");
    c.parts[0] = {c.head, static_cast<size_t>(head)};
    c.parts[1] = {const_cast<char *>(body), with_body ? size : 0};
}

void refuse(Connection &c, const char *status)
{
    c.keeps = false;
    reply(c, status, status, strlen(status), true);
}

/// Whether a header of the request, in small letters, has this value.
bool has_header(const char *request, const char *end, const char *line)
{
    const size_t size = strlen(line);
    for (const char *p = request; p + size <= end; p++) {
        if (p[0] != '\n') continue;
        size_t i = 0;
        while (i < size && (p[1 + i] | 0x20) == (line[i] | 0x20)) i++;
        if (i == size) return true;
    }
    return false;
}

/// Answers the request that ends at `end`.
void answer(Connection &c, const char *end)
{
    const char *const line_end = static_cast<const char *>(memchr(c.request, '\r', c.size));
    const bool head = !strncmp(c.request, "HEAD ", 5), get = !strncmp(c.request, "GET ", 4);
    const char *const path = c.request + (head ? 5 : 4);
    const auto *const path_end = static_cast<const char *>(memchr(path, ' ', static_cast<size_t>(end - path)));
    if (!path_end || path_end > line_end || strncmp(path_end, " HTTP/1.", 8)) return refuse(c, "400 Bad Request");
    if (!head && !get) return refuse(c, "501 Not Implemented");
    const bool old = path_end[8] == '0';
    c.keeps =
        old ? has_header(c.request, end, "connection: keep-alive") : !has_header(c.request, end, "connection: close");
    const auto file = find(path, static_cast<size_t>(path_end - path));
    if (file) reply(c, "200 OK", file.value.data, file.value.bytes, !head);
    else if (file.error == rpc::Error::not_found || file.error == rpc::Error::bad_value)
        reply(c, "404 Not Found", "not found\n", 10, !head);
    else refuse(c, "503 Service Unavailable");
}

/// Takes what has come, and answers if that is a whole request. False: the connection has ended.
bool receive(int fd, Connection &c)
{
    const ssize_t got = recv(fd, c.request + c.size, most_request - 1 - c.size, MSG_DONTWAIT);
    if (got <= 0) return false;
    c.size += static_cast<size_t>(got);
    c.request[c.size] = 0;
    return true;
}

void next_request(Connection &c)
{
    const char *const end = strstr(c.request, "\r\n\r\n");
    if (!end) {
        if (c.size + 1 == most_request) refuse(c, "431 Request Header Fields Too Large");
        return;
    }
    answer(c, end + 4);
    c.size -= static_cast<size_t>(end + 4 - c.request);
    memmove(c.request, end + 4, c.size + 1);
}

/// Sends as much as the client takes, up to a part after which others have their turn. False: the connection has ended,
/// or is to end.
bool send_more(int fd, Connection &c)
{
    msghdr message = {};
    message.msg_iov = c.parts;
    message.msg_iovlen = 2;
    for (int turns = 4; c.answering(); turns--) {
        if (!turns) return true;
        const ssize_t sent = sendmsg(fd, &message, MSG_DONTWAIT);
        if (sent < 0) return errno == EAGAIN;
        size_t gone = static_cast<size_t>(sent);
        for (iovec &part : c.parts) {
            const size_t of_part = gone < part.iov_len ? gone : part.iov_len;
            part = {static_cast<char *>(part.iov_base) + of_part, part.iov_len - of_part};
            gone -= of_part;
        }
    }
    return c.keeps;
}

bool serve(pollfd &fd, Connection &c)
{
    if (fd.revents & (POLLERR | POLLNVAL)) return false;
    if (fd.revents & POLLIN && !c.answering() && !receive(fd.fd, c)) return false;
    do {
        if (!c.answering()) next_request(c);
        if (c.answering() && !send_more(fd.fd, c)) return false;
    } while (!c.answering() && strstr(c.request, "\r\n\r\n"));
    fd.events = c.answering() ? POLLOUT : POLLIN;
    return true;
}

void drop(nfds_t i)
{
    close(fds[i].fd);
    fds[i] = fds[--count];
    if (i == count) return;
    // one of its parts may point into itself
    Connection &from = connections[count - 1], &to = connections[i - 1];
    const auto sent = static_cast<const char *>(from.parts[0].iov_base) - from.head;
    to = from;
    to.parts[0].iov_base = to.head + sent;
}

/// The connection with which nothing has happened for longest.
nfds_t idlest()
{
    nfds_t found = 1;
    for (nfds_t i = 2; i < count; i++)
        if (turn - connections[i - 1].turn > turn - connections[found - 1].turn) found = i;
    return found;
}

void take(int fd)
{
    if (count == most_connections + 1) drop(idlest());
    Connection &c = connections[count - 1];
    c.turn = turn;
    c.size = c.parts[0].iov_len = c.parts[1].iov_len = 0;
    c.request[0] = 0;
    c.keeps = true;
    fds[count++] = {fd, POLLIN, 0};
}

/// Waits for something to happen. False: there is no network any more.
bool wait()
{
    while (poll(fds, count, -1) < 0) {
        if (errno != EBUSY) return false;
        usleep(busy_us); // too many others wait
    }
    turn++;
    return !(fds[0].revents & POLLNVAL); // where another call has found out first, the listener is gone
}

void serve_ready()
{
    for (nfds_t i = count; --i > 0;) {
        if (!fds[i].revents) continue;
        connections[i - 1].turn = turn;
        if (!serve(fds[i], connections[i - 1])) drop(i);
    }
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
        perror("http");
        return 1;
    }
    fds[count++] = {listener, POLLIN, 0};
    while (wait()) {
        serve_ready();
        if (!fds[0].revents) continue;
        const int fd = accept(listener, nullptr, nullptr);
        if (fd >= 0) take(fd);
    }
    perror("http");
    return 1;
}
