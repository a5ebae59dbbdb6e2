// SPDX-License-Identifier: BSD-2-Clause
// The registers and descriptors of Intel's 82540EM that are used here (PCI/PCI-X Family of Gigabit Ethernet Controllers
// Software Developer's Manual, 317453; chapter 3 has the descriptors, 13 the registers).
#pragma once

#include <rpc/rpc.h>

namespace e1000 {

using Word = rpc::Word;

// Registers.
constexpr Word control = 0x0000, memory_read = 0x0014, cause = 0x00C0, mask_set = 0x00D0, mask_clear = 0x00D8,
               receive_control = 0x0100, send_control = 0x0400, send_gap = 0x0410, receive_base = 0x2800,
               send_base = 0x3800, multicast = 0x5200, address_low = 0x5400, address_high = 0x5404;
constexpr Word base_high = 4, length = 8, head = 16, tail = 24; ///< of a ring, from its base
constexpr Word multicast_words = 128;
// Their bits.
constexpr Word link_up = 1 << 6, reset = 1 << 26, address_valid = 1u << 31;
constexpr Word read_start = 1, read_done = 1 << 4; ///< of its EEPROM, which begins with its address
constexpr Word sent = 1 << 0, link_changed = 1 << 2, few_left = 1 << 4, overrun = 1 << 6, received = 1 << 7;
constexpr Word receives = 1 << 1, broadcasts = 1 << 15, without_checksum = 1 << 26; ///< and frames of 2,048 bytes
constexpr Word sends = 1 << 1, pads = 1 << 3, collisions = 0x0F << 4 | 0x40 << 12, usual_gap = 0x0060200A;

struct Descriptor {
    Word address, address_high;
    unsigned short length;
    unsigned char checksum_offset, command; ///< of a received frame: its checksum
    unsigned char status, errors;
    unsigned short special;
};
constexpr unsigned char done = 1; ///< its status
constexpr unsigned char whole = 1, with_checksum = 2, report = 8; ///< its command
constexpr Word smallest_ring = 128 / sizeof(Descriptor); ///< descriptors

} // namespace e1000
