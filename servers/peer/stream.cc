// SPDX-License-Identifier: BSD-2-Clause
#include "stream.h"

#include <string.h>

namespace {

constexpr unsigned window = 0xFFFF, segment_size = 1460;
constexpr Byte segment_option[] = {2, 4, segment_size >> 8, segment_size & 0xFF};
constexpr unsigned head_words = 5, option_words = 1;
constexpr int tries = 2000;

} // namespace

void Stream::put(unsigned flags, const char *text, Word size)
{
    Byte *const out = cable_.packet(protocol_tcp);
    const bool opens = flags & syn;
    const Word head = opens ? (head_words + option_words) * 4 : head_words * 4, all = head + size;
    put16(out + at::source_port, source_);
    put16(out + at::port, port_);
    put32(out + at::sequence, sent_);
    put32(out + at::acknowledged, got_);
    out[at::tcp_size] = static_cast<Byte>(head << 2);
    out[at::flags] = static_cast<Byte>(flags);
    put16(out + at::window, window);
    if (opens) memcpy(out + at::tcp_data, segment_option, sizeof segment_option);
    memcpy(out + at::data + head, text, size);
    // the checksum is over the addresses, the protocol and the length, too
    const unsigned before = add(out + at::source, 8) + protocol_tcp + all;
    put16(out + at::tcp_sum, folded(add(out + at::data, all, before)));
    sent_ += size + ((flags & (syn | fin)) != 0);
    owes_ = false;
    cable_.send(number_, all);
}

bool Stream::connect(unsigned port)
{
    port_ = port;
    for (int i = 0; i < tries; i++) {
        sent_ = 0;
        put(syn);
        take(nullptr, 0);
        if (connected_) break;
        waits_++;
        Cable::wait();
    }
    if (connected_) put(ack);
    return connected_;
}

void Stream::send(const char *text) { put(ack | push, text, strlen(text)); }

/// What a segment brings, if it is this connection's and the next one: how many bytes it has.
Stream::Word Stream::came(const Byte *in, const Byte *end, char *to, Word room)
{
    if (get16(in + at::port) != source_ || get16(in + at::source_port) != port_) return 0;
    const unsigned flags = in[at::flags];
    const Byte *const data = in + at::data + (in[at::tcp_size] >> 4) * 4;
    const Word size = static_cast<Word>(end - data);
    if (flags & syn) {
        connected_ = get32(in + at::acknowledged) == sent_;
        got_ = get32(in + at::sequence) + 1;
        return 0;
    }
    if (get32(in + at::sequence) != got_ || size > room) return 0;
    memcpy(to, data, size);
    ended_ = ended_ || flags & fin;
    got_ += size + ((flags & fin) != 0);
    owes_ = owes_ || size || flags & fin;
    return size;
}

/// All that is there.
Stream::Word Stream::take(char *to, Word room)
{
    Word all = 0;
    const Byte *end = nullptr;
    while (const Byte *const in = cable_.receive(protocol_tcp, end)) all += came(in, end, to + all, room - all);
    return all;
}

Stream::Word Stream::receive(char *to, Word room)
{
    Word got = take(to, room);
    if (!got && owes_ && !ended_) {
        put(ack); // the other side may wait for that
        got = take(to, room);
    }
    for (int i = 0; i < tries && !got && !ended_; i++) {
        waits_++;
        Cable::wait();
        got = take(to, room);
    }
    return got;
}

void Stream::close()
{
    put(ack | fin);
    for (int i = 0; i < tries && !ended_; i++) {
        take(nullptr, 0);
        if (ended_) break;
        waits_++;
        Cable::wait();
    }
    if (owes_) put(ack);
}
