// SPDX-License-Identifier: BSD-2-Clause
// Sockets on lwIP's raw interface (interfaces/network.h says what each call does). A call that has to wait is kept with
// its socket and tried again when something has happened there.
#pragma once

#include <interfaces/network.h>
#include <interfaces/init.h>

#include <lwip/tcp.h>
#include <lwip/udp.h>

class Sockets {
public:
    using Word = rpc::Word;
    using Client = rpc::Client;
    using Result = rpc::Result<Network::Outcome>;

    rpc::Result<rpc::Nothing> handle(Network::Share, Client &, Word handle);
    Result handle(Network::Open, Client &, Word kind);
    Result handle(Network::Bind, Client &, Word socket, const Network::Endpoint &);
    Result handle(Network::Listen, Client &, Word socket, Word backlog);
    Result handle(Network::Accept, Client &, Word socket, Word flags);
    Result handle(Network::Connect, Client &, Word socket, const Network::Endpoint &, Word flags);
    Result handle(Network::Send, Client &, Word socket, const Network::Buffer &, const Network::Endpoint &, Word flags);
    Result handle(Network::Receive, Client &, Word socket, const Network::Buffer &, Word flags);
    Result handle(Network::Shutdown, Client &, Word socket, Word how);
    Result handle(Network::Close, Client &, Word socket);
    Result handle(Network::Name, Client &, Word socket, Word of_peer);
    Result handle(Network::SetOption, Client &, Word socket, Word option, Word value);
    Result handle(Network::GetOption, Client &, Word socket, Word option);
    Result handle(Network::Poll, Client &, const Network::Buffer &, Word ms);
    Result handle(Network::Resolve, Client &, const Network::Host &);

    /// A program has ended.
    void left(Word program);
    /// Answers those that poll and have something, if anything has happened.
    void look_at_pollers();
    /// Answers those whose time is over. How many ms until the next one's is; ~0: there is none.
    Word check_pollers_times();
    /// Whether a frame has data for a connection whose program leaves more unread than its share of lwIP's buffers: it
    /// is to be dropped then, and its sender sends it again. As long as there is such a program so is a part of a
    /// segment, of which nobody knows for whom it is.
    bool overfilled_by(const char *frame, Word size) const;
    Word count() const;

private:
    static constexpr Word most = 1024, most_datagrams = 16, most_resolvers = 8, none = ~0u;
    static constexpr Word most_pollers_of_one = 4, ///< threads of a program that poll
        most_pollers = most_pollers_of_one * init::most_programs;

    /// A call that waits for something to happen at its socket.
    struct Waiting {
        L4_ThreadId_t thread = {};
        Network::Buffer buffer = {};
        Word flags = 0;
        explicit operator bool() const { return thread.raw; }
    };
    struct Datagram {
        pbuf *data = nullptr;
        Network::Endpoint from = {};
    };
    struct Socket {
        Word kind = 0; ///< 0: unused
        Word program = 0;
        tcp_pcb *tcp = nullptr;
        udp_pcb *udp = nullptr;
        bool listens = false, connecting = false, connected = false, ended = false, sends_ended = false;
        bool fin_sent = false; ///< by Shutdown
        bool accepted = true; ///< otherwise it waits in the queue of the one that listens
        Word error = 0;
        pbuf *received = nullptr; ///< of a stream
        Datagram datagrams[most_datagrams] = {};
        Word first_datagram = 0, datagram_count = 0;
        Word first_pending = none, next_pending = none; ///< connections to be accepted, of one that listens
        Word most_pending = 0; ///< of these, counting those that have ended already
        Waiting receiver, sender; ///< a receiver also waits to accept, a sender to be connected
    };
    struct Poller {
        Client client = {};
        Network::Buffer entries = {};
        u32_t since = 0;
        Word ms = 0;
    };
    struct Resolver {
        L4_ThreadId_t thread = {}; ///< nilthread: nobody waits any more
        Word program = 0;
        bool asked = false; ///< lwIP has the entry until it answers
    };
    struct Window {
        Word at = 0, bytes = 0;
    };

    // What lwIP calls; `arg` is the socket.
    static signed char accepted(void *arg, tcp_pcb *pcb, signed char error);
    static signed char connected(void *arg, tcp_pcb *pcb, signed char error);
    static signed char arrived(void *arg, tcp_pcb *pcb, pbuf *data, signed char error);
    static signed char sent(void *arg, tcp_pcb *pcb, u16_t bytes);
    static signed char looked_at(void *arg, tcp_pcb *pcb);
    static void broken(void *arg, signed char error);
    static void datagram(void *arg, udp_pcb *pcb, pbuf *data, const ip_addr_t *address, u16_t port);
    static void resolved(const char *name, const ip_addr_t *address, void *arg);

    Socket *find(const Client &client, Word socket);
    Socket *unused();
    Word number(const Socket &s) const { return static_cast<Word>(&s - sockets_); }
    void use(Socket &s, tcp_pcb *pcb);
    static void forget(const Socket &s);
    void end(Socket &s, bool abort);
    char *memory(Word program, const Network::Buffer &buffer, Word alignment = 1);

    // Each tries a call: EAGAIN if it has to wait.
    Network::Outcome accept(Socket &s);
    Network::Outcome send(Socket &s, const Waiting &call);
    Network::Outcome receive(Socket &s, const Waiting &call);
    Network::Outcome receive_datagram(Socket &s, const Waiting &call, char *to);
    Network::Outcome poll(const Client &client, const Network::Buffer &buffer);
    Word found(Socket &s) const;
    Poller *poller_for(const Client &client);
    void remove_poller(Word number) { pollers_[number] = pollers_[--poller_count_]; }
    Network::Outcome send_datagram(Socket &s, const Network::Buffer &buffer, const Network::Endpoint &to);
    Result wait(Waiting &place, const Waiting &call, const Network::Outcome &outcome);
    bool has_room(const Socket &s, const tcp_pcb *pcb) const;
    Word share() const;
    void hold(const Socket &s, const pbuf *data);
    void release(const Socket &s, const pbuf *data);
    void peer_ended(Socket &s);
    void wake_receiver(Socket &s);
    void wake_sender(Socket &s);

    Word held_ = 0, held_by_[init::most_programs] = {}; ///< lwIP's buffers with what sockets have received; by program
    Word sharers_ = 0; ///< programs with a window
    bool happened_ = false; ///< something that may be polled for, since the pollers have been looked at
    Word poller_count_ = 0; ///< the first ones
    Socket sockets_[most] = {};
    Window windows_[init::most_programs] = {};
    Poller pollers_[most_pollers] = {};
    Resolver resolvers_[most_resolvers] = {};
};

extern Sockets the_sockets;
