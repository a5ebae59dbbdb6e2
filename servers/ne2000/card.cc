// SPDX-License-Identifier: BSD-2-Clause
#include "card.h"

namespace {

using rpc::Word;

// Ports, and of the last two pages of registers those of page 1.
constexpr Word command = 0, page_start = 1, page_stop = 2, boundary = 3, send_page = 4, send_low = 5, send_high = 6,
               status = 7, remote_low = 8, remote_high = 9, count_low = 10, count_high = 11, receive_mode = 12,
               send_mode = 13, data_mode = 14, mask = 15, data = 16, reset = 31;
constexpr Word physical = 1, current = 7, multicast = 8;
// Commands.
constexpr Word stop = 0x01, start = 0x02, send_loaded = 0x04, remote_read = 0x08, remote_write = 0x10, no_remote = 0x20,
               page_1 = 0x40;
// Of the status, and of the mask.
constexpr Word received = 0x01, sent = 0x02, send_failed = 0x08, overflow = 0x10, remote_done = 0x40, is_reset = 0x80;
constexpr Word words_of_16 = 0x49, broadcasts = 0x04, monitor = 0x20, loopback = 0x02;

// The card's memory, in pages of 256 bytes: one frame to be sent, then the ring of those received.
constexpr unsigned first = 0x40, ring = first + 6, end = 0x80;
constexpr Word header_size = 4, smallest = 60, largest = 1514;
constexpr int patience = 100000; // polls

} // namespace

/// Tells the card what comes through the data port.
void Ne2000::remote(Word at, Word bytes, Word direction) const
{
    out(remote_low, at);
    out(remote_high, at >> 8);
    out(count_low, bytes);
    out(count_high, bytes >> 8);
    out(command, start | direction);
}

void Ne2000::read(Word from, void *to, Word bytes) const
{
    const Word even = (bytes + 1) & ~1u;
    remote(from, even, remote_read);
    auto *const words = static_cast<unsigned short *>(to);
    take(data, words, bytes / 2);
    if (bytes == even) return;
    unsigned short last;
    take(data, &last, 1);
    static_cast<unsigned char *>(to)[bytes - 1] = static_cast<unsigned char>(last);
}

void Ne2000::write(Word to, const void *from, Word bytes) const
{
    out(status, remote_done);
    remote(to, (bytes + 1) & ~1u, remote_write);
    give(data, static_cast<const unsigned short *>(from), (bytes + 1) / 2);
    for (int i = 0; i < patience && !(in(status) & remote_done); i++) {}
}

bool Ne2000::begin(const init::Device &device, NicMemory &, Word)
{
    base_ = device.ranges[0].first;
    return device.ranges[0].is_ports && restart();
}

void Ne2000::address(unsigned char *bytes) const
{
    for (size_t i = 0; i < sizeof address_; i++) bytes[i] = address_[i];
}

bool Ne2000::restart()
{
    out(reset, in(reset));
    int polls = 0;
    while (!(in(status) & is_reset))
        if (++polls == patience) return false;
    out(command, stop | no_remote);
    out(data_mode, words_of_16);
    out(count_low, 0);
    out(count_high, 0);
    out(receive_mode, monitor);
    out(send_mode, loopback);
    alignas(2) unsigned char memory[32]; // each byte of the address is there twice
    read(0, memory, sizeof memory);
    for (int i = 0; i < 6; i++) address_[i] = memory[2 * i];
    out(command, stop | no_remote);
    out(page_start, ring);
    out(page_stop, end);
    out(boundary, ring);
    out(status, 0xFF);
    out(mask, received | sent | send_failed | overflow);
    out(command, stop | no_remote | page_1);
    for (Word i = 0; i < 6; i++) out(physical + i, address_[i]);
    for (Word i = 0; i < 8; i++) out(multicast + i, 0);
    next_ = ring + 1;
    out(current, next_);
    out(command, start | no_remote);
    out(send_mode, 0);
    out(receive_mode, broadcasts);
    sending_ = false;
    return true;
}

void Ne2000::acknowledge()
{
    const Word what = in(status) & (received | sent | send_failed | overflow);
    out(status, what & ~overflow);
    if (what & (sent | send_failed)) sending_ = false;
    if (what & overflow) overflown();
}

/// Its ring was full. What lies in it stays; it is stopped and started again (data sheet, 7.0).
void Ne2000::overflown()
{
    out(command, stop | no_remote);
    out(count_low, 0);
    out(count_high, 0);
    for (int i = 0; i < patience && !(in(status) & is_reset); i++) {}
    out(send_mode, loopback);
    out(command, start | no_remote);
    out(status, overflow);
    out(send_mode, 0);
    sending_ = false;
}

bool Ne2000::receive(char *frame, Word &size)
{
    out(command, start | no_remote | page_1);
    const unsigned written = in(current);
    out(command, start | no_remote);
    if (written == next_) return false;
    struct alignas(2) {
        unsigned char status, next, low, high;
    } header;
    read(next_ << 8, &header, header_size);
    size = (header.low | header.high << 8) - header_size;
    if (header.next < ring || header.next >= end || size < smallest || size > FrameRing::room) {
        restart(); // what stands there is no frame, so the place of the next one is not known either
        return false;
    }
    const Word at = (next_ << 8) + header_size, straight = (end << 8) - at, part = size < straight ? size : straight;
    read(at, frame, part);
    if (part < size) read(ring << 8, frame + part, size - part);
    next_ = header.next;
    out(boundary, next_ == ring ? end - 1 : next_ - 1);
    return true;
}

void Ne2000::collect(FrameSink &received)
{
    Word size;
    for (char *room; (room = received.next()) && receive(room, size);) received.filled(size);
}

bool Ne2000::load(FrameSource &sent)
{
    Word size;
    while (const char *const frame = sending_ ? nullptr : sent.next(size)) {
        const bool fits = size <= largest;
        if (fits) {
            write(first << 8, frame, size);
            loaded_ = size < smallest ? smallest : size;
        }
        sent.emptied();
        if (fits) return true;
    }
    return false;
}

void Ne2000::transmit()
{
    out(send_page, first);
    out(send_low, loaded_);
    out(send_high, loaded_ >> 8);
    out(command, start | no_remote | send_loaded);
    sending_ = true;
}

void Ne2000::work(FrameSink &received, FrameSource &sent)
{
    collect(received);
    if (load(sent)) transmit();
}
