// SPDX-License-Identifier: BSD-2-Clause
#include "card.h"

#include <system/memory.h>

namespace {

using rpc::Word;

// Registers of all banks, of the first one (how it sends and receives), of the second, and of the third.
constexpr Word bank_select = 0x0E;
constexpr Word send_mode = 0x00, receive_mode = 0x04;
constexpr Word own_address = 0x04, control = 0x0C;
constexpr Word command = 0x00, packet = 0x02, allocated = 0x03, sent_packet = 0x04, received_packet = 0x05,
               pointer = 0x06, data = 0x08, cause = 0x0C, mask = 0x0D;

constexpr unsigned short chip = 0x3300; // what the bank register has in its upper half
constexpr unsigned short sends = 0x0001, pads = 0x0080;
constexpr unsigned short reset = 0x8000, receives = 0x0100, without_checksum = 0x0200;
constexpr unsigned short releases = 0x0800; // what has been sent, by itself
// Commands to its memory.
constexpr unsigned short get_place = 0x20, empty_all = 0x40, drop_received = 0x80, release = 0xA0, enqueue = 0xC0,
                         busy = 0x01;
constexpr unsigned char none = 0x80; // instead of a packet's number
constexpr unsigned short of_received = 0x8000, onwards = 0x4000, reading = 0x2000; // of the pointer
constexpr unsigned char received = 0x01, not_sent = 0x02, has_place = 0x08; // of cause and mask
// Of packets: errors and an odd size in the status, and in the last byte.
constexpr Word errors = 0xAC00, odd = 0x1000;
constexpr unsigned short odd_at_end = 0x2000;

constexpr Word header = 4, beside = 6; // bytes of a packet that are not the frame's
constexpr Word smallest = 14, largest = 1514;

} // namespace

void Smc91c111::select(Bank bank) const { at<unsigned short>(bank_select) = bank; }

bool Smc91c111::begin(const init::Device &, NicMemory &, Word)
{
    const auto registers = cobnut::map_range(0);
    if (!registers) return false;
    base_ = registers.value.address;
    if ((at<unsigned short>(bank_select) & 0xFF00) != chip) return false;
    select(packets);
    at<unsigned char>(mask) = 0;
    select(mode);
    at<unsigned short>(receive_mode) = reset;
    at<unsigned short>(receive_mode) = 0;
    select(configuration);
    at<unsigned short>(control) = releases;
    select(packets);
    at<unsigned short>(command) = empty_all;
    while (at<unsigned short>(command) & busy) {}
    select(mode);
    at<unsigned short>(send_mode) = sends | pads;
    at<unsigned short>(receive_mode) = receives | without_checksum;
    select(packets);
    at<unsigned char>(mask) = received | not_sent;
    return true;
}

void Smc91c111::address(unsigned char *bytes) const
{
    select(configuration);
    for (Word i = 0; i < 6; i++) bytes[i] = at<unsigned char>(own_address + i);
    select(packets);
}

/// It stops sending at a frame that it cannot send, and keeps that.
void Smc91c111::acknowledge()
{
    if (!(at<unsigned char>(cause) & not_sent)) return;
    at<unsigned char>(packet) = at<unsigned char>(sent_packet);
    at<unsigned short>(command) = release;
    at<unsigned char>(cause) = not_sent;
    select(mode);
    at<unsigned short>(send_mode) = sends | pads;
    select(packets);
}

bool Smc91c111::receive(char *frame, Word &size) const
{
    if (at<unsigned char>(received_packet) & none) return false;
    at<unsigned short>(pointer) = of_received | onwards | reading;
    const Word head = at<Word>(data), bytes = head >> 16 & 0x7FE;
    size = bytes - beside + (head & odd ? 1 : 0);
    if (head & errors || bytes < beside || size > FrameRing::room) size = 0;
    at<unsigned short>(pointer) = of_received | onwards | reading | header;
    Word *const words = reinterpret_cast<Word *>(frame);
    for (Word i = 0; i < (size + 3) / 4; i++) words[i] = at<Word>(data);
    at<unsigned short>(command) = drop_received;
    while (at<unsigned short>(command) & busy) {}
    return true;
}

bool Smc91c111::allocate()
{
    if (!allocating_) at<unsigned short>(command) = get_place;
    place_ = at<unsigned char>(allocated);
    allocating_ = place_ & none;
    return !allocating_;
}

void Smc91c111::send(const char *frame, Word size) const
{
    at<unsigned char>(packet) = place_;
    at<unsigned short>(pointer) = onwards;
    at<Word>(data) = ((size & ~1u) + beside) << 16;
    const Word *const words = reinterpret_cast<const Word *>(frame);
    for (Word i = 0; i < size / 4; i++) at<Word>(data) = words[i];
    const Word rest = words[size / 4];
    if (size & 2) at<unsigned short>(data) = static_cast<unsigned short>(rest);
    const Word last = size & 2 ? rest >> 16 : rest;
    at<unsigned short>(data) = size & 1 ? static_cast<unsigned short>((last & 0xFF) | odd_at_end) : 0;
    at<unsigned short>(command) = enqueue;
}

void Smc91c111::work(FrameSink &filled, FrameSource &sent)
{
    Word size;
    char *room;
    while ((room = filled.next()) && receive(room, size)) filled.filled(size);
    const char *frame;
    while ((frame = sent.next(size)) && allocate()) {
        send(frame, size < smallest ? smallest : size > largest ? largest : size);
        sent.emptied();
    }
    // what there is no room for would interrupt for ever
    const unsigned wanted = not_sent | (room ? received : 0u) | (allocating_ ? has_place : 0u);
    at<unsigned char>(mask) = static_cast<unsigned char>(wanted);
}
