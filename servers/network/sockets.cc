// SPDX-License-Identifier: BSD-2-Clause
#include "sockets.h"

#include "alarm.h"
#include "segment.h"

#include <system/system.h>

#include <errno.h>
#include <lwip/dns.h>
#include <lwip/sys.h>
#include <string.h>

using cobnut::ask_init;
using rpc::Error, rpc::Word;

namespace {

constexpr Word most_pages = 256, largest_datagram = 65507;
constexpr Word most_held_by_one = 32, most_held = PBUF_POOL_SIZE - 128; // buffers
constexpr u8_t looks_every = 2; // half seconds

Network::Outcome failed(int error) { return {.error = static_cast<Word>(error), .value = 0, .peer = {}}; }
Network::Outcome value(Word v) { return {.error = 0, .value = v, .peer = {}}; }

int error_of(signed char error)
{
    switch (error) {
    case ERR_OK: return 0;
    case ERR_MEM:
    case ERR_BUF: return ENOBUFS;
    case ERR_TIMEOUT: return ETIMEDOUT;
    case ERR_RTE: return EHOSTUNREACH;
    case ERR_USE: return EADDRINUSE;
    case ERR_ALREADY: return EALREADY;
    case ERR_ISCONN: return EISCONN;
    case ERR_CONN:
    case ERR_CLSD: return ENOTCONN;
    case ERR_ABRT: return ECONNABORTED;
    case ERR_RST: return ECONNRESET;
    default: return EINVAL;
    }
}

ip_addr_t address_of(const Network::Endpoint &e) { return {.addr = e.address}; }
u16_t port_of(const Network::Endpoint &e) { return lwip_ntohs(static_cast<u16_t>(e.port)); }
Network::Endpoint endpoint(const ip_addr_t &address, u16_t port) { return {address.addr, lwip_htons(port)}; }

Word smaller(Word a, Word b) { return a < b ? a : b; }

} // namespace

constinit Sockets the_sockets;

// --------------------------------------------------------------------------------------------------- their table

Sockets::Socket *Sockets::find(const Client &client, Word socket)
{
    if (socket >= most) return nullptr;
    Socket &s = sockets_[socket];
    return s.kind && s.accepted && s.program == client.program ? &s : nullptr;
}

Sockets::Socket *Sockets::unused()
{
    for (Socket &s : sockets_)
        if (!s.kind) return &s;
    return nullptr;
}

Word Sockets::count() const
{
    Word n = 0;
    for (const Socket &s : sockets_) n += s.kind != 0;
    return n;
}

void Sockets::use(Socket &s, tcp_pcb *pcb)
{
    s.tcp = pcb;
    tcp_arg(pcb, &s);
    tcp_recv(pcb, arrived);
    tcp_sent(pcb, sent);
    tcp_err(pcb, broken);
    tcp_poll(pcb, looked_at, looks_every);
}

/// From now on lwIP calls nobody about this connection.
void Sockets::forget(const Socket &s)
{
    tcp_arg(s.tcp, nullptr);
    if (s.listens) return;
    tcp_recv(s.tcp, nullptr);
    tcp_sent(s.tcp, nullptr);
    tcp_err(s.tcp, nullptr);
    tcp_poll(s.tcp, nullptr, 0);
}

/// Gives back all that a socket has. lwIP goes on with what has been sent, unless `abort`.
void Sockets::end(Socket &s, bool abort)
{
    for (Word pending = s.first_pending; pending != none;) {
        Socket &one = sockets_[pending];
        pending = one.next_pending;
        one.first_pending = none;
        end(one, true);
    }
    if (s.tcp) {
        forget(s);
        if (!s.accepted) tcp_backlog_accepted(s.tcp);
        if (abort && !s.listens) tcp_abort(s.tcp);
        else if (tcp_close(s.tcp) != ERR_OK) tcp_abort(s.tcp);
    }
    if (s.udp) udp_remove(s.udp);
    if (s.received) {
        release(s, s.received);
        pbuf_free(s.received);
    }
    for (Datagram &one : s.datagrams) {
        if (!one.data) continue;
        release(s, one.data);
        pbuf_free(one.data);
    }
    s = Socket{};
    happened_ = true;
}

/// Where a buffer of a program's is in its window; nullptr if it is not.
char *Sockets::memory(Word program, const Network::Buffer &buffer, Word alignment)
{
    const Window &w = windows_[program];
    const bool inside = buffer.offset <= w.bytes && buffer.size <= w.bytes - buffer.offset;
    return w.at && inside && buffer.offset % alignment == 0 ? reinterpret_cast<char *>(w.at + buffer.offset) : nullptr;
}

void Sockets::left(Word program)
{
    for (Socket &s : sockets_)
        if (s.kind && s.accepted && s.program == program) end(s, true);
    for (Word i = poller_count_; i-- > 0;)
        if (pollers_[i].client.program == program) remove_poller(i);
    for (Resolver &r : resolvers_)
        if (r.program == program) r.thread = {};
    if (!windows_[program].at) return;
    ask_init<init::Detach>(windows_[program].at);
    windows_[program] = {};
    sharers_--;
}

rpc::Result<rpc::Nothing> Sockets::handle(Network::Share, Client &client, Word handle)
{
    const auto pages = ask_init<init::Shared>(handle, client.thread.raw, Word{1});
    if (!pages) return pages.error;
    if (pages.value > most_pages) return Error::bad_value;
    const auto at = ask_init<init::Attach>(handle, Word{0}, Word{1});
    if (!at) return at.error;
    Window &window = windows_[client.program];
    if (window.at) ask_init<init::Detach>(window.at);
    else sharers_++;
    window = {at.value, pages.value * init::page_size};
    return rpc::Nothing{};
}

// ------------------------------------------------------------------------------------------------------- waiting

/// The answer to a call, or its place to wait in.
Sockets::Result Sockets::wait(Waiting &place, const Waiting &call, const Network::Outcome &outcome)
{
    if (outcome.error != EAGAIN || call.flags & Network::no_wait) return outcome;
    place = call;
    return Error::later;
}

void Sockets::wake_receiver(Socket &s)
{
    happened_ = true;
    if (!s.receiver) return;
    const Network::Outcome outcome = s.listens ? accept(s) : receive(s, s.receiver);
    if (outcome.error == EAGAIN) return;
    rpc::answer<Network::Receive>(s.receiver.thread, outcome);
    s.receiver = {};
}

void Sockets::wake_sender(Socket &s)
{
    happened_ = true;
    if (!s.sender) return;
    Network::Outcome outcome;
    if (s.sender.buffer.size) {
        outcome = send(s, s.sender);
    } else {
        outcome = failed(s.connecting ? EAGAIN : static_cast<int>(s.error));
        if (!s.connecting) s.error = 0;
    }
    if (outcome.error == EAGAIN) return;
    rpc::answer<Network::Send>(s.sender.thread, outcome);
    s.sender = {};
}

// --------------------------------------------------------------------------------------------- what lwIP tells of

signed char Sockets::accepted(void *arg, tcp_pcb *pcb, signed char error)
{
    auto *const listener = static_cast<Socket *>(arg);
    if (error != ERR_OK || !pcb || !listener) return ERR_VAL;
    Word *last = &listener->first_pending, pending = 0;
    for (; *last != none; pending++) last = &the_sockets.sockets_[*last].next_pending;
    Socket *const s = pending < listener->most_pending ? the_sockets.unused() : nullptr;
    if (!s) return ERR_MEM; // lwIP ends the connection
    s->kind = Network::stream;
    s->program = listener->program;
    s->connected = true;
    s->accepted = false;
    the_sockets.use(*s, pcb);
    tcp_backlog_delayed(pcb);
    *last = the_sockets.number(*s);
    the_sockets.wake_receiver(*listener);
    return ERR_OK;
}

signed char Sockets::connected(void *arg, tcp_pcb *, signed char)
{
    auto &s = *static_cast<Socket *>(arg);
    s.connecting = false;
    s.connected = true;
    the_sockets.wake_sender(s);
    return ERR_OK;
}

/// Each segment takes a buffer for whole frames, however small it is: how many of them a program may leave unread, so
/// that the others have some.
Word Sockets::share() const { return most_held / (sharers_ ? sharers_ : 1); }

void Sockets::hold(const Socket &s, const pbuf *data)
{
    held_ += pbuf_clen(data);
    held_by_[s.program] += pbuf_clen(data);
}

void Sockets::release(const Socket &s, const pbuf *data)
{
    held_ -= pbuf_clen(data);
    held_by_[s.program] -= pbuf_clen(data);
}

/// Whether a segment that has come may be kept. lwIP offers it again; but not behind the last state of a connection.
bool Sockets::has_room(const Socket &s, const tcp_pcb *pcb) const
{
    if (!s.received || pcb->state == CLOSING || pcb->state == TIME_WAIT) return true;
    return pbuf_clen(s.received) < most_held_by_one;
}

bool Sockets::overfilled_by(const char *frame, Word size) const
{
    if (held_ < share()) return false; // nobody can have more
    const Segment segment = segment_in(frame, size);
    if (segment.is_part) return true; // only the first part says whose it is
    if (!segment.bytes) return false;
    for (const Socket &s : sockets_) {
        const bool its = s.tcp && !s.listens && s.tcp->local_port == segment.to && s.tcp->remote_port == segment.from &&
                         s.tcp->remote_ip.addr == segment.address;
        if (its) return !s.receiver && held_by_[s.program] >= share();
    }
    return false;
}

signed char Sockets::arrived(void *arg, tcp_pcb *pcb, pbuf *data, signed char)
{
    auto &s = *static_cast<Socket *>(arg);
    if (data && !the_sockets.has_room(s, pcb)) return ERR_MEM;
    if (data) the_sockets.hold(s, data);
    if (!data) the_sockets.peer_ended(s);
    else if (s.received) pbuf_cat(s.received, data);
    else s.received = data;
    the_sockets.wake_receiver(s);
    return ERR_OK;
}

/// After both FINs lwIP waits for late segments (TIME_WAIT) and then frees the pcb without a word: it is given up now.
void Sockets::peer_ended(Socket &s)
{
    s.ended = true;
    if (!s.fin_sent) return;
    forget(s);
    tcp_close(s.tcp);
    s.tcp = nullptr;
    wake_sender(s);
}

signed char Sockets::sent(void *arg, tcp_pcb *, u16_t)
{
    the_sockets.wake_sender(*static_cast<Socket *>(arg));
    return ERR_OK;
}

/// Now and then, since a send may wait for lwIP's memory, which others give back.
signed char Sockets::looked_at(void *arg, tcp_pcb *pcb) { return arg ? sent(arg, pcb, 0) : signed{ERR_OK}; }

/// lwIP has ended the connection and taken its pcb back.
void Sockets::broken(void *arg, signed char error)
{
    auto &s = *static_cast<Socket *>(arg);
    s.tcp = nullptr;
    s.error = static_cast<Word>(s.connecting && error == ERR_RST ? ECONNREFUSED : error_of(error));
    if (s.connecting && error == ERR_ABRT) s.error = ETIMEDOUT;
    s.connecting = false;
    s.ended = s.sends_ended = true;
    the_sockets.wake_receiver(s);
    the_sockets.wake_sender(s);
}

void Sockets::datagram(void *arg, udp_pcb *, pbuf *data, const ip_addr_t *address, u16_t port)
{
    auto &s = *static_cast<Socket *>(arg);
    if (s.datagram_count == most_datagrams || the_sockets.held_by_[s.program] >= the_sockets.share()) {
        pbuf_free(data);
        return;
    }
    the_sockets.hold(s, data);
    s.datagrams[(s.first_datagram + s.datagram_count++) % most_datagrams] = {data, endpoint(*address, port)};
    the_sockets.wake_receiver(s);
}

// --------------------------------------------------------------------------------------------------------- calls

Sockets::Result Sockets::handle(Network::Open, Client &client, Word kind)
{
    if (kind != Network::stream && kind != Network::datagram) return failed(EPROTONOSUPPORT);
    Socket *const s = unused();
    if (!s) return failed(ENOBUFS);
    if (kind == Network::stream) {
        tcp_pcb *const pcb = tcp_new();
        if (!pcb) return failed(ENOBUFS);
        use(*s, pcb);
    } else {
        s->udp = udp_new();
        if (!s->udp) return failed(ENOBUFS);
        udp_recv(s->udp, datagram, s);
        ip_set_option(s->udp, SOF_BROADCAST);
    }
    s->kind = kind;
    s->program = client.program;
    return value(number(*s));
}

Sockets::Result Sockets::handle(Network::Bind, Client &client, Word socket, const Network::Endpoint &to)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    const ip_addr_t address = address_of(to);
    if (s->udp) return failed(error_of(udp_bind(s->udp, &address, port_of(to))));
    if (!s->tcp || s->listens || s->connected || s->connecting) return failed(EINVAL);
    return failed(error_of(tcp_bind(s->tcp, &address, port_of(to))));
}

Sockets::Result Sockets::handle(Network::Listen, Client &client, Word socket, Word backlog)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (s->udp) return failed(EOPNOTSUPP);
    if (!s->tcp || s->connected || s->connecting) return failed(EINVAL);
    const u8_t most_pending = static_cast<u8_t>(!backlog ? 1 : smaller(backlog, 255));
    if (!s->listens) {
        err_t error = ERR_OK;
        tcp_pcb *const pcb = tcp_listen_with_backlog_and_err(s->tcp, most_pending, &error);
        if (!pcb) return failed(error_of(error));
        s->tcp = pcb;
        s->listens = true;
        s->most_pending = most_pending;
        tcp_arg(pcb, s);
        tcp_accept(pcb, accepted);
    }
    return value(0);
}

Network::Outcome Sockets::accept(Socket &s)
{
    if (s.first_pending == none) return failed(EAGAIN);
    Socket &one = sockets_[s.first_pending];
    const Word taken = s.first_pending;
    s.first_pending = one.next_pending;
    one.next_pending = none;
    one.accepted = true;
    Network::Outcome outcome = value(taken);
    if (!one.tcp) return outcome; // it has ended already, which the next call on it finds
    tcp_backlog_accepted(one.tcp);
    outcome.peer = endpoint(one.tcp->remote_ip, one.tcp->remote_port);
    return outcome;
}

Sockets::Result Sockets::handle(Network::Accept, Client &client, Word socket, Word flags)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (!s->listens) return failed(EINVAL);
    if (s->receiver) return failed(EBUSY);
    return wait(s->receiver, {client.thread, {}, flags}, accept(*s));
}

Sockets::Result Sockets::handle(Network::Connect, Client &client, Word socket, const Network::Endpoint &to, Word flags)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    const ip_addr_t address = address_of(to);
    if (s->udp) {
        s->connected = true;
        return failed(error_of(udp_connect(s->udp, &address, port_of(to))));
    }
    if (s->connected || s->listens) return failed(EISCONN);
    if (s->connecting) return failed(EALREADY);
    if (!s->tcp) return failed(EINVAL);
    const signed char error = tcp_connect(s->tcp, &address, port_of(to), connected);
    if (error != ERR_OK) return failed(error_of(error));
    s->connecting = true;
    if (flags & Network::no_wait) return failed(EINPROGRESS);
    s->sender = {client.thread, {}, flags};
    return Error::later;
}

Network::Outcome Sockets::send_datagram(Socket &s, const Network::Buffer &buffer, const Network::Endpoint &to)
{
    const char *const from = memory(s.program, buffer);
    if (!from) return failed(EFAULT);
    if (buffer.size > largest_datagram) return failed(EMSGSIZE);
    const bool named = to.address || to.port;
    if (!named && !s.connected) return failed(EDESTADDRREQ);
    pbuf *const data = pbuf_alloc(PBUF_TRANSPORT, static_cast<u16_t>(buffer.size), PBUF_RAM);
    if (!data) return failed(ENOBUFS);
    pbuf_take(data, from, static_cast<u16_t>(buffer.size));
    const ip_addr_t address = address_of(to);
    const signed char error = named ? udp_sendto(s.udp, data, &address, port_of(to)) : udp_send(s.udp, data);
    pbuf_free(data);
    return error == ERR_OK ? value(buffer.size) : failed(error_of(error));
}

Network::Outcome Sockets::send(Socket &s, const Waiting &call)
{
    if (s.error) {
        const Word error = s.error;
        s.error = 0;
        return failed(static_cast<int>(error));
    }
    if (!s.tcp || s.sends_ended) return failed(EPIPE);
    if (s.connecting) return failed(EAGAIN);
    const char *const from = memory(s.program, call.buffer);
    if (!from) return failed(EFAULT);
    const Word size = smaller(call.buffer.size, tcp_sndbuf(s.tcp));
    if (!size) return failed(call.buffer.size ? EAGAIN : 0);
    const signed char error = tcp_write(s.tcp, from, static_cast<u16_t>(size), TCP_WRITE_FLAG_COPY);
    if (error == ERR_MEM) return failed(EAGAIN);
    if (error != ERR_OK) return failed(error_of(error));
    tcp_output(s.tcp);
    return value(size);
}

Sockets::Result Sockets::handle(Network::Send, Client &client, Word socket, const Network::Buffer &buffer,
                                const Network::Endpoint &to, Word flags)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (s->udp) return send_datagram(*s, buffer, to);
    if (s->listens || (!s->connected && !s->connecting && !s->error)) return failed(ENOTCONN);
    if (s->sender) return failed(EBUSY);
    const Waiting call = {client.thread, buffer, flags};
    return wait(s->sender, call, send(*s, call));
}

Network::Outcome Sockets::receive_datagram(Socket &s, const Waiting &call, char *to)
{
    if (!s.datagram_count) return failed(EAGAIN);
    Datagram &one = s.datagrams[s.first_datagram];
    const Word size = smaller(call.buffer.size, one.data->tot_len);
    pbuf_copy_partial(one.data, to, static_cast<u16_t>(size), 0);
    const Network::Outcome outcome = {.error = 0, .value = size, .peer = one.from};
    if (call.flags & Network::peek) return outcome;
    release(s, one.data);
    pbuf_free(one.data);
    one = {};
    s.first_datagram = (s.first_datagram + 1) % most_datagrams;
    s.datagram_count--;
    return outcome;
}

Network::Outcome Sockets::receive(Socket &s, const Waiting &call)
{
    char *const to = memory(s.program, call.buffer);
    if (!to) return failed(EFAULT);
    if (s.udp) return receive_datagram(s, call, to);
    if (s.received) {
        const Word size = smaller(call.buffer.size, s.received->tot_len);
        pbuf_copy_partial(s.received, to, static_cast<u16_t>(size), 0);
        if (call.flags & Network::peek) return value(size);
        release(s, s.received);
        s.received = pbuf_free_header(s.received, static_cast<u16_t>(size));
        if (s.received) hold(s, s.received);
        if (s.tcp) tcp_recved(s.tcp, static_cast<u16_t>(size));
        return value(size);
    }
    if (s.error) {
        const Word error = s.error;
        s.error = 0;
        return failed(static_cast<int>(error));
    }
    return s.ended ? value(0) : failed(EAGAIN);
}

Sockets::Result Sockets::handle(Network::Receive, Client &client, Word socket, const Network::Buffer &buffer,
                                Word flags)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (!s->udp && (s->listens || (!s->connected && !s->connecting && !s->ended))) return failed(ENOTCONN);
    if (s->receiver) return failed(EBUSY);
    const Waiting call = {client.thread, buffer, flags};
    return wait(s->receiver, call, receive(*s, call));
}

Sockets::Result Sockets::handle(Network::Shutdown, Client &client, Word socket, Word how)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (!how || how > 3) return failed(EINVAL);
    if (s->udp || !s->tcp || !s->connected) return failed(ENOTCONN);
    if (how & Network::no_more_sends) s->sends_ended = true;
    // with both lwIP would take the pcb back; the socket has it until Close
    const bool sends = how & Network::no_more_sends;
    if (how & Network::no_more_receives) s->ended = true;
    const signed char error = sends ? tcp_shutdown(s->tcp, 0, 1) : signed{ERR_OK};
    if (sends && error == ERR_OK) s->fin_sent = true;
    wake_receiver(*s);
    return failed(error_of(error));
}

Sockets::Result Sockets::handle(Network::Close, Client &client, Word socket)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (s->receiver) rpc::answer<Network::Receive>(s->receiver.thread, failed(EBADF));
    if (s->sender) rpc::answer<Network::Send>(s->sender.thread, failed(EBADF));
    end(*s, false);
    return value(0);
}

Sockets::Result Sockets::handle(Network::Name, Client &client, Word socket, Word of_peer)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (of_peer && !s->connected) return failed(ENOTCONN);
    Network::Outcome outcome = value(0);
    if (s->udp)
        outcome.peer =
            of_peer ? endpoint(s->udp->remote_ip, s->udp->remote_port) : endpoint(s->udp->local_ip, s->udp->local_port);
    else if (!s->tcp) return failed(ENOTCONN);
    else
        outcome.peer =
            of_peer ? endpoint(s->tcp->remote_ip, s->tcp->remote_port) : endpoint(s->tcp->local_ip, s->tcp->local_port);
    return outcome;
}

Sockets::Result Sockets::handle(Network::SetOption, Client &client, Word socket, Word option, Word on)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (option == Network::reuse_address || option == Network::keep_alive) {
        ip_pcb *const pcb = s->udp ? reinterpret_cast<ip_pcb *>(s->udp) : reinterpret_cast<ip_pcb *>(s->tcp);
        const u8_t bit = option == Network::keep_alive ? SOF_KEEPALIVE : SOF_REUSEADDR;
        if (pcb && on) ip_set_option(pcb, bit);
        else if (pcb) ip_reset_option(pcb, bit);
        return value(0);
    }
    if (option != Network::no_delay || s->udp || s->listens) return failed(ENOPROTOOPT);
    if (s->tcp && on) tcp_nagle_disable(s->tcp);
    else if (s->tcp) tcp_nagle_enable(s->tcp);
    return value(0);
}

Sockets::Result Sockets::handle(Network::GetOption, Client &client, Word socket, Word option)
{
    Socket *const s = find(client, socket);
    if (!s) return failed(EBADF);
    if (option == Network::kind) return value(s->kind);
    if (option != Network::pending_error) return failed(ENOPROTOOPT);
    const Word error = s->error;
    s->error = 0;
    return value(error);
}

// ------------------------------------------------------------------------------------------------------- polling

Word Sockets::found(Socket &s) const
{
    Word what = 0;
    if (s.received || s.datagram_count || s.first_pending != none || s.ended) what |= Network::readable;
    if (s.udp || (s.tcp && !s.listens && s.connected && !s.sends_ended && tcp_sndbuf(s.tcp))) what |= Network::writable;
    if (s.error) what |= Network::failed | Network::writable;
    if (!s.udp && !s.tcp) what |= Network::hung_up;
    return what;
}

Network::Outcome Sockets::poll(const Client &client, const Network::Buffer &buffer)
{
    char *const at = memory(client.program, buffer, alignof(Network::PollEntry));
    if (!at) return failed(EFAULT);
    if (buffer.size / sizeof(Network::PollEntry) > Network::most_polled) return failed(EINVAL);
    Word n = 0;
    auto *const entries = reinterpret_cast<Network::PollEntry *>(at);
    for (Word i = 0; i < buffer.size / sizeof *entries; i++) {
        Network::PollEntry &one = entries[i];
        const Word always = Network::failed | Network::hung_up;
        Socket *const s = find(client, one.socket);
        const Word what = s ? found(*s) & (one.wanted | always) : Word{Network::no_socket};
        one.found = one.socket == none ? 0 : what;
        n += one.found != 0;
    }
    return value(n);
}

/// A place to wait in: the thread's last one if there is one, otherwise one of its program's, if that has one left.
Sockets::Poller *Sockets::poller_for(const Client &client)
{
    Word of_program = 0;
    for (Word i = 0; i < poller_count_; i++) {
        if (pollers_[i].client.thread == client.thread) return &pollers_[i];
        of_program += pollers_[i].client.program == client.program;
    }
    return of_program < most_pollers_of_one ? &pollers_[poller_count_++] : nullptr;
}

Sockets::Result Sockets::handle(Network::Poll, Client &client, const Network::Buffer &buffer, Word ms)
{
    const Network::Outcome outcome = poll(client, buffer);
    if (outcome.error || outcome.value || !ms) return outcome;
    Poller *const place = poller_for(client);
    if (!place) return failed(EBUSY);
    *place = {client, buffer, sys_now(), ms};
    if (ms != none) the_alarm.not_later_than(ms);
    return Error::later;
}

void Sockets::look_at_pollers()
{
    if (!happened_) return;
    happened_ = false;
    for (Word i = poller_count_; i-- > 0;) {
        const Network::Outcome outcome = poll(pollers_[i].client, pollers_[i].entries);
        if (!outcome.error && !outcome.value) continue;
        rpc::answer<Network::Poll>(pollers_[i].client.thread, outcome);
        remove_poller(i);
    }
}

Word Sockets::check_pollers_times()
{
    Word next = none;
    for (Word i = poller_count_; i-- > 0;) {
        const Poller &p = pollers_[i];
        const Word passed = sys_now() - p.since;
        if (p.ms == none) continue;
        if (passed < p.ms) {
            next = smaller(next, p.ms - passed);
            continue;
        }
        rpc::answer<Network::Poll>(p.client.thread, value(0));
        remove_poller(i);
    }
    return next;
}

// --------------------------------------------------------------------------------------------------------- names

void Sockets::resolved(const char *, const ip_addr_t *address, void *arg)
{
    auto &r = *static_cast<Resolver *>(arg);
    if (!L4_IsNilThread(r.thread))
        rpc::answer<Network::Resolve>(r.thread, address ? value(address->addr) : failed(ENOENT));
    r = {};
}

Sockets::Result Sockets::handle(Network::Resolve, Client &client, const Network::Host &host)
{
    char name[Network::Host::room + 1] = {};
    memcpy(name, host.data, host.size);
    for (Resolver &r : resolvers_) {
        if (r.asked) continue;
        ip_addr_t address;
        const signed char error = dns_gethostbyname(name, &address, resolved, &r);
        if (error == ERR_OK) return value(address.addr);
        if (error != ERR_INPROGRESS) return failed(error == ERR_VAL ? ENETDOWN : ENOENT);
        r = {client.thread, client.program, true};
        return Error::later;
    }
    return failed(EBUSY);
}
