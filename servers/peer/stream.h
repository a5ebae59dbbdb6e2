// SPDX-License-Identifier: BSD-2-Clause
// A TCP connection to the system (RFC 9293) on a cable that loses nothing: what comes is acknowledged at once, unless
// the next segment of its own does so.
#pragma once

#include "cable.h"

class Stream {
public:
    using Word = rpc::Word;

    /// `number` is the laboratory's case of its frames.
    Stream(Cable &cable, unsigned number, unsigned source_port) : cable_(cable), number_(number), source_(source_port)
    {
    }

    /// Asks again while nobody listens there; false if that goes on.
    bool connect(unsigned port);
    /// Sends text that fits a segment.
    void send(const char *text);
    /// Takes what has come, up to `room` bytes of it: how many; 0: nothing more comes, even behind an acknowledgement
    /// and a while.
    Word receive(char *to, Word room);
    /// Ends a connection that the other side has ended, or will.
    void close();

    /// What comes from now on is of another case.
    void set_number(unsigned number) { number_ = number; }
    /// How often nothing came until time had passed.
    unsigned waits() const { return waits_; }

private:
    void put(unsigned flags, const char *text = "", Word size = 0);
    Word take(char *to, Word room);
    Word came(const Byte *in, const Byte *end, char *to, Word room);

    Cable &cable_;
    unsigned number_, source_, port_ = 0;
    unsigned sent_ = 0, got_ = 0; ///< numbers of the next bytes
    bool owes_ = false; ///< an acknowledgement
    bool connected_ = false, ended_ = false;
    unsigned waits_ = 0;
};
