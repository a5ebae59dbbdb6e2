// SPDX-License-Identifier: BSD-2-Clause
// TCP/IP, as the service `network`: sockets, and the state of the interface. libs/sockets gives them their usual names.
//
// Addresses and ports are in the order of the network, as in a packet. What is sent and received lies in memory that
// a program shares with the server once; calls say where in it. A program's threads may each use a part. Sockets
// belong to a program and go with it.
#pragma once

#include <rpc/rpc.h>

struct Network {
    using Word = rpc::Word;
    using Host = rpc::Bytes<128>;

    struct Addresses {
        Word address, mask, gateway; ///< 0: none yet
    };
    struct State {
        Word up; ///< there is a card, and its driver runs
        unsigned char hardware[8]; ///< its address, the first six
        Addresses addresses;
        Word frames_in, frames_out, dropped;
        Word drivers; ///< how many drivers there have been: one more each time it is started again
        Word longest_outage_us; ///< from the end of a driver to the next one's begin
        Word sockets; ///< how many there are
    };
    using Describe = rpc::Operation<0x100, State()>;

    struct Endpoint {
        Word address, port;
    };
    /// How a call on a socket has ended: `error` is 0 or as in libs/c's errno.h, the rest is what the call says.
    struct Outcome {
        Word error, value;
        Endpoint peer;
    };
    /// A part of the shared memory.
    struct Buffer {
        Word offset, size;
    };

    enum : Word { stream = 1, datagram = 2 }; ///< kinds
    enum : Word { no_wait = 1, peek = 2 }; ///< flags of Accept, Connect, Send, Receive
    enum : Word { readable = 1, writable = 4, failed = 8, hung_up = 16, no_socket = 32 }; ///< of Poll; as POLLIN etc.
    enum : Word { reuse_address, no_delay, keep_alive, pending_error, kind }; ///< options; the last two are read only
    enum : Word { no_more_receives = 1, no_more_sends = 2 }; ///< of Shutdown; both is 3

    /// Memory for data, a dataspace that the caller has passed on to be written to; instead of what was shared before.
    /// Errors: of init::Shared and init::Attach; bad_value (more than 256 pages).
    using Share = rpc::Operation<0x110, rpc::Nothing(Word handle)>;

    /// The value is the socket. Errors: EPROTONOSUPPORT, ENOBUFS.
    using Open = rpc::Operation<0x111, Outcome(Word kind)>;
    /// Address 0: all; port 0: any. Errors: EBADF, EINVAL, EADDRINUSE.
    using Bind = rpc::Operation<0x112, Outcome(Word socket, Endpoint)>;
    /// Errors: EBADF, EINVAL, EOPNOTSUPP, EADDRINUSE, ENOBUFS.
    using Listen = rpc::Operation<0x113, Outcome(Word socket, Word backlog)>;
    /// The value is the new socket. Errors: EBADF, EINVAL (does not listen), EAGAIN, EBUSY (another thread waits).
    using Accept = rpc::Operation<0x114, Outcome(Word socket, Word flags)>;
    /// Errors: EBADF, EISCONN, EALREADY, EINPROGRESS, ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENOBUFS.
    using Connect = rpc::Operation<0x115, Outcome(Word socket, Endpoint, Word flags)>;
    /// Sends at least one byte of a stream, or a whole datagram, to where it is connected if `to` is all 0; the
    /// value is how many. Errors: EBADF, EFAULT (not in the shared memory), EPIPE, ENOTCONN, ECONNRESET, EAGAIN,
    /// EBUSY, EDESTADDRREQ, EMSGSIZE, ENOBUFS, EHOSTUNREACH.
    using Send = rpc::Operation<0x116, Outcome(Word socket, Buffer, Endpoint to, Word flags)>;
    /// The value is how many bytes, 0 at the end of a stream; what does not fit of a datagram is lost. Errors: EBADF,
    /// EFAULT, ENOTCONN, ECONNRESET, EAGAIN, EBUSY.
    using Receive = rpc::Operation<0x117, Outcome(Word socket, Buffer, Word flags)>;
    /// Errors: EBADF, EINVAL, ENOTCONN.
    using Shutdown = rpc::Operation<0x118, Outcome(Word socket, Word how)>;
    /// Errors: EBADF.
    using Close = rpc::Operation<0x119, Outcome(Word socket)>;
    /// The address of a socket's own end, or of its peer. Errors: EBADF, ENOTCONN.
    using Name = rpc::Operation<0x11A, Outcome(Word socket, Word of_peer)>;
    /// Errors: EBADF, ENOPROTOOPT.
    using SetOption = rpc::Operation<0x11B, Outcome(Word socket, Word option, Word value)>;
    using GetOption = rpc::Operation<0x11C, Outcome(Word socket, Word option)>;

    struct PollEntry {
        Word socket; ///< ~0: none, which is skipped
        Word wanted, found;
    };
    static constexpr Word most_polled = 256; ///< entries of a Poll
    /// The buffer holds entries, whose `found` is filled in; the value is how many have found something. Waits up to
    /// `ms` for the first one, for ever if that is ~0; a thread's next Poll ends its
    /// last one. Errors: EFAULT, EINVAL (more than most_polled), EBUSY (four threads of the
    /// program's wait already).
    using Poll = rpc::Operation<0x11D, Outcome(Buffer entries, Word ms)>;
    /// The address of a host, by DNS unless it is written in numbers. Errors: ENOENT, EBUSY, ENETDOWN (no name server).
    using Resolve = rpc::Operation<0x11E, Outcome(Host)>;

    using Operations = rpc::List<Describe, Share, Open, Bind, Listen, Accept, Connect, Send, Receive, Shutdown, Close,
                                 Name, SetOption, GetOption, Poll, Resolve>;
};
