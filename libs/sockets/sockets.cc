// SPDX-License-Identifier: BSD-2-Clause
// The usual names of sockets, on the service `network`. Data passes through memory that is shared with that server.
#include <sockets/connection.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using rpc::Word;

constexpr int first_fd = 3, most_fds = 256;
constexpr Word window_pages = 16, window_bytes = window_pages * init::page_size, none = ~0u;

struct Descriptor {
    Word socket = none;
    bool waits = true, is_stream = true;
};
constinit Descriptor descriptors[most_fds];
constinit sockets::Connection network;
constinit char *window = nullptr;

int fail(int error)
{
    errno = error;
    return -1;
}

/// Shares memory with the server, at the first call and after it has been started again.
bool share()
{
    window = network.share(window_pages);
    return window;
}

/// What the server has answered: the value, or -1 with errno.
int taken(const rpc::Result<Network::Outcome> &result, Network::Outcome &outcome)
{
    if (!result) {
        // its sockets are gone with it
        for (Descriptor &d : descriptors) d.socket = none;
        window = nullptr;
        return fail(ENETDOWN);
    }
    outcome = result.value;
    return outcome.error ? fail(static_cast<int>(outcome.error)) : static_cast<int>(outcome.value);
}
template <typename Op, typename... A> int call(Network::Outcome &outcome, const A &...arguments)
{
    return taken(network.call<Op>(arguments...), outcome);
}
template <typename Op, typename... A> int call_only(const A &...arguments)
{
    Network::Outcome outcome;
    return call<Op>(outcome, arguments...);
}

/// nullptr and errno if it is no socket's.
Descriptor *find(int fd)
{
    const bool known = fd >= first_fd && fd < most_fds && descriptors[fd].socket != none;
    if (!known) errno = EBADF;
    return known ? &descriptors[fd] : nullptr;
}

/// A descriptor for a socket, or for what has failed, -1.
int add(int socket, bool is_stream, bool waits)
{
    if (socket < 0) return -1;
    for (int fd = first_fd; fd < most_fds; fd++) {
        if (descriptors[fd].socket != none) continue;
        descriptors[fd] = {static_cast<Word>(socket), waits, is_stream};
        return fd;
    }
    call_only<Network::Close>(static_cast<Word>(socket));
    return fail(EMFILE);
}

Word flags_of(const Descriptor &d, int flags)
{
    return (!d.waits || flags & MSG_DONTWAIT ? Word{Network::no_wait} : 0) |
           (flags & MSG_PEEK ? Word{Network::peek} : 0);
}

bool read_address(const sockaddr *address, socklen_t size, Network::Endpoint &to)
{
    if (!address || size < sizeof(sockaddr_in) || address->sa_family != AF_INET) {
        errno = address && size >= sizeof(sockaddr_in) ? EAFNOSUPPORT : EINVAL;
        return false;
    }
    const auto *const in = reinterpret_cast<const sockaddr_in *>(address);
    to = {in->sin_addr.s_addr, in->sin_port};
    return true;
}

size_t size_of(const msghdr &message)
{
    size_t size = 0;
    for (size_t i = 0; i < message.msg_iovlen; i++) size += message.msg_iov[i].iov_len;
    return size;
}

/// Copies a message into the window from its byte `done` on, as far as there is room: how many bytes.
size_t gather(const msghdr &message, size_t done)
{
    size_t filled = 0;
    for (size_t i = 0; i < message.msg_iovlen && filled < window_bytes; i++) {
        const iovec &part = message.msg_iov[i];
        const size_t skipped = done < part.iov_len ? done : part.iov_len, left = part.iov_len - skipped;
        const size_t copied = left < window_bytes - filled ? left : window_bytes - filled;
        memcpy(window + filled, static_cast<const char *>(part.iov_base) + skipped, copied);
        done -= skipped;
        filled += copied;
    }
    return filled;
}

void write_address(const Network::Endpoint &from, sockaddr *address, socklen_t *size)
{
    if (!address || !size) return;
    sockaddr_in in = {};
    in.sin_family = AF_INET;
    in.sin_port = static_cast<in_port_t>(from.port);
    in.sin_addr.s_addr = from.address;
    memcpy(address, &in, *size < sizeof in ? *size : sizeof in);
    *size = sizeof in;
}

} // namespace

extern "C" {

int socket(int family, int type, int)
{
    if (family != AF_INET) return fail(EAFNOSUPPORT);
    if (!window && !share()) return fail(ENETDOWN);
    const int kind = type & ~SOCK_NONBLOCK;
    return add(call_only<Network::Open>(static_cast<Word>(kind)), kind == SOCK_STREAM, !(type & SOCK_NONBLOCK));
}

int bind(int fd, const sockaddr *address, socklen_t size)
{
    Network::Endpoint to;
    const Descriptor *const d = find(fd);
    return d && read_address(address, size, to) ? call_only<Network::Bind>(d->socket, to) : -1;
}

int listen(int fd, int backlog)
{
    const Descriptor *const d = find(fd);
    return d ? call_only<Network::Listen>(d->socket, static_cast<Word>(backlog < 1 ? 1 : backlog)) : -1;
}

int accept(int fd, sockaddr *address, socklen_t *size)
{
    const Descriptor *const d = find(fd);
    if (!d) return -1;
    Network::Outcome outcome;
    const int made = call<Network::Accept>(outcome, d->socket, flags_of(*d, 0));
    if (made >= 0) write_address(outcome.peer, address, size);
    return add(made, true, true);
}

int connect(int fd, const sockaddr *address, socklen_t size)
{
    Network::Endpoint to;
    const Descriptor *const d = find(fd);
    return d && read_address(address, size, to) ? call_only<Network::Connect>(d->socket, to, flags_of(*d, 0)) : -1;
}

ssize_t sendmsg(int fd, const msghdr *message, int flags)
{
    const Descriptor *const d = find(fd);
    const auto *const address = static_cast<const sockaddr *>(message->msg_name);
    Network::Endpoint to = {};
    if (!d || (address && !d->is_stream && !read_address(address, message->msg_namelen, to))) return -1;
    const size_t size = size_of(*message);
    if (!d->is_stream && size > window_bytes) return fail(EMSGSIZE);
    size_t done = 0;
    do {
        const size_t part = gather(*message, done);
        const Network::Buffer buffer = {0, part};
        const int sent = call_only<Network::Send>(d->socket, buffer, to, flags_of(*d, flags));
        if (sent < 0) return done ? static_cast<ssize_t>(done) : -1;
        done += static_cast<size_t>(sent);
    } while (done < size && d->waits && !(flags & MSG_DONTWAIT));
    return static_cast<ssize_t>(done);
}
ssize_t sendto(int fd, const void *from, size_t size, int flags, const sockaddr *address, socklen_t address_size)
{
    iovec whole = {const_cast<void *>(from), size};
    msghdr message = {};
    message.msg_name = const_cast<sockaddr *>(address);
    message.msg_namelen = address_size;
    message.msg_iov = &whole;
    message.msg_iovlen = 1;
    return sendmsg(fd, &message, flags);
}
ssize_t send(int fd, const void *from, size_t size, int flags) { return sendto(fd, from, size, flags, nullptr, 0); }

ssize_t recvfrom(int fd, void *to, size_t size, int flags, sockaddr *from, socklen_t *from_size)
{
    const Descriptor *const d = find(fd);
    if (!d) return -1;
    const Network::Buffer buffer = {0, size < window_bytes ? size : window_bytes};
    Network::Outcome outcome;
    const int got = call<Network::Receive>(outcome, d->socket, buffer, flags_of(*d, flags));
    if (got < 0) return -1;
    memcpy(to, window, static_cast<size_t>(got));
    write_address(outcome.peer, from, from_size);
    return got;
}
ssize_t recv(int fd, void *to, size_t size, int flags) { return recvfrom(fd, to, size, flags, nullptr, nullptr); }

ssize_t read(int fd, void *to, size_t size)
{
    return fd == STDIN_FILENO ? 0 : recv(fd, to, size, 0); // nobody types to a program: the console's end
}
ssize_t write(int fd, const void *from, size_t size)
{
    if (fd != STDOUT_FILENO && fd != STDERR_FILENO) return send(fd, from, size, 0);
    printf("%.*s", static_cast<int>(size), static_cast<const char *>(from));
    return static_cast<ssize_t>(size);
}

int close(int fd)
{
    Descriptor *const d = find(fd);
    if (!d) return -1;
    const Word socket = d->socket;
    *d = {};
    return call_only<Network::Close>(socket);
}

int shutdown(int fd, int how)
{
    const Descriptor *const d = find(fd);
    return d ? call_only<Network::Shutdown>(d->socket, static_cast<Word>(how + 1)) : -1;
}

int getsockname(int fd, sockaddr *address, socklen_t *size)
{
    const Descriptor *const d = find(fd);
    Network::Outcome outcome;
    if (!d || call<Network::Name>(outcome, d->socket, Word{0}) < 0) return -1;
    write_address(outcome.peer, address, size);
    return 0;
}
int getpeername(int fd, sockaddr *address, socklen_t *size)
{
    const Descriptor *const d = find(fd);
    Network::Outcome outcome;
    if (!d || call<Network::Name>(outcome, d->socket, Word{1}) < 0) return -1;
    write_address(outcome.peer, address, size);
    return 0;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
    const Descriptor *const d = find(fd);
    if (!d) return -1;
    if (size < sizeof(int)) return fail(EINVAL);
    const bool on = *static_cast<const int *>(value);
    const auto set = [&](Word which) { return call_only<Network::SetOption>(d->socket, which, Word{on}); };
    if (level == IPPROTO_TCP && option == TCP_NODELAY) return set(Network::no_delay);
    if (level != SOL_SOCKET) return fail(ENOPROTOOPT);
    switch (option) {
    case SO_REUSEADDR: return set(Network::reuse_address);
    case SO_KEEPALIVE: return set(Network::keep_alive);
    case SO_BROADCAST:
    case SO_SNDBUF:
    case SO_RCVBUF: return 0;
    default: return fail(ENOPROTOOPT);
    }
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *size)
{
    const Descriptor *const d = find(fd);
    if (!d) return -1;
    if (level != SOL_SOCKET || (option != SO_ERROR && option != SO_TYPE)) return fail(ENOPROTOOPT);
    if (*size < sizeof(int)) return fail(EINVAL);
    const Word which = option == SO_ERROR ? Word{Network::pending_error} : Word{Network::kind};
    const int got = call_only<Network::GetOption>(d->socket, which);
    if (got < 0) return -1;
    memcpy(value, &got, sizeof got);
    *size = sizeof got;
    return 0;
}

int fcntl(int fd, int command, ...)
{
    Descriptor *const d = find(fd);
    if (!d) return -1;
    if (command == F_GETFL) return O_RDWR | (d->waits ? 0 : O_NONBLOCK);
    if (command != F_SETFL) return fail(EINVAL);
    va_list arguments;
    va_start(arguments, command);
    d->waits = !(va_arg(arguments, int) & O_NONBLOCK);
    va_end(arguments);
    return 0;
}

int poll(pollfd *fds, nfds_t count, int ms)
{
    if (count > most_fds) return fail(EINVAL);
    if (!window && !share()) return fail(ENETDOWN);
    auto *const entries = reinterpret_cast<Network::PollEntry *>(window);
    bool any_bad = false; // which is found at once
    for (nfds_t i = 0; i < count; i++) {
        const bool known = fds[i].fd >= 0 && fds[i].fd < most_fds;
        entries[i] = {.socket = known ? descriptors[fds[i].fd].socket : none,
                      .wanted = static_cast<Word>(fds[i].events),
                      .found = 0};
        any_bad = any_bad || (fds[i].fd >= 0 && entries[i].socket == none);
    }
    const Network::Buffer buffer = {0, count * sizeof *entries};
    Network::Outcome outcome;
    int found = taken(network.poll(buffer, any_bad ? 0 : ms < 0 ? none : static_cast<Word>(ms)), outcome);
    if (found < 0) return -1;
    for (nfds_t i = 0; i < count; i++) {
        const bool bad = fds[i].fd >= 0 && entries[i].socket == none;
        fds[i].revents = bad ? short{POLLNVAL} : static_cast<short>(entries[i].found);
        found += bad;
    }
    return found;
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *errors, timeval *timeout)
{
    pollfd fds[most_fds];
    nfds_t n = 0;
    if (count < 0 || count > FD_SETSIZE) return fail(EINVAL);
    for (int fd = 0; fd < count; fd++) {
        const bool in = reads && FD_ISSET(fd, reads), out = writes && FD_ISSET(fd, writes);
        if (in || out || (errors && FD_ISSET(fd, errors)))
            fds[n++] = {fd, static_cast<short>((in ? POLLIN : 0) | (out ? POLLOUT : 0)), 0};
    }
    const int ms = timeout ? static_cast<int>(timeout->tv_sec * 1000 + (timeout->tv_usec + 999) / 1000) : -1;
    if (poll(fds, n, ms) < 0) return -1;
    for (fd_set *set : (fd_set *[]){reads, writes, errors})
        if (set) FD_ZERO(set);
    int found = 0;
    for (nfds_t i = 0; i < n; i++) {
        const bool in = fds[i].revents & (POLLIN | POLLHUP) && fds[i].events & POLLIN,
                   out = fds[i].revents & POLLOUT && fds[i].events & POLLOUT;
        if (in) FD_SET(fds[i].fd, reads);
        if (out) FD_SET(fds[i].fd, writes);
        found += in + out;
    }
    return found;
}

} // extern "C"
