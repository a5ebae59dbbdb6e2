// SPDX-License-Identifier: BSD-2-Clause
#include "decoder.h"

namespace ps2 {
namespace {

constexpr unsigned char extension = 0xE0, pause = 0xE1, release = 0x80, print_shift = 0x2A;
constexpr unsigned char buttons = 7, always = 8, x_negative = 0x10, y_negative = 0x20, overflow = 0xC0;

} // namespace

bool Decoder::take_keyboards(unsigned char byte, Input::Event &event)
{
    if (skipped_) return skipped_--, false;
    if (byte == pause) return skipped_ = 2, false; // E1 1D 45, E1 9D C5
    if (byte == extension) return extended_ = true, false;
    const bool extended = extended_;
    extended_ = false;
    const unsigned char code = byte & static_cast<unsigned char>(~release);
    if (!code || (extended && code == print_shift)) return false; // a shift that is not pressed
    event = {byte & release ? Input::Kind::released : Input::Kind::pressed, code | (extended ? 0x80u : 0u), 0, 0};
    return true;
}

bool Decoder::take_mouses(unsigned char byte, Input::Event &event)
{
    if (!size_ && !(byte & always)) return false; // not a first byte: one has been lost
    packet_[size_++] = byte;
    if (size_ < sizeof packet_) return false;
    size_ = 0;
    const unsigned char first = packet_[0];
    if (first & overflow) return false;
    const int x = packet_[1] - (first & x_negative ? 256 : 0), y = packet_[2] - (first & y_negative ? 256 : 0);
    event = {Input::Kind::moved, first & unsigned{buttons}, x, -y}; // it counts upwards
    return true;
}

} // namespace ps2
