// SPDX-License-Identifier: BSD-2-Clause
// Frames with IPv4 packets, as far as a script needs them: what stands where, and checksums. Words of two and four
// bytes are in the network's order.
#pragma once

#include <stddef.h>

using Byte = unsigned char;
using Address = unsigned; ///< of IPv4, its first byte in the upper one

inline void put16(Byte *to, unsigned value)
{
    to[0] = static_cast<Byte>(value >> 8);
    to[1] = static_cast<Byte>(value);
}
inline void put32(Byte *to, unsigned value)
{
    put16(to, value >> 16);
    put16(to + 2, value);
}
inline unsigned get16(const Byte *from) { return static_cast<unsigned>(from[0] << 8 | from[1]); }
inline unsigned get32(const Byte *from) { return get16(from) << 16 | get16(from + 2); }

// From a frame's first byte; ports are of TCP.
namespace at {
inline constexpr size_t to = 0, from = 6, kind = 12, body = 14;
inline constexpr size_t arp_operation = body + 6, arp_sender = body + 8, arp_asked = body + 24;
inline constexpr size_t length = body + 2, ttl = body + 8, protocol = body + 9, ip_sum = body + 10, source = body + 12,
                        destination = body + 16, data = body + 20; ///< of a packet without options
inline constexpr size_t icmp_kind = data, icmp_sum = data + 2, icmp_number = data + 6, icmp_data = data + 8;
inline constexpr size_t source_port = data, port = data + 2, sequence = data + 4, acknowledged = data + 8,
                        tcp_size = data + 12, flags = data + 13, window = data + 14, tcp_sum = data + 16,
                        tcp_data = data + 20;
} // namespace at

inline constexpr unsigned kind_ip = 0x0800, kind_arp = 0x0806, protocol_icmp = 1, protocol_tcp = 6;
inline constexpr unsigned echo_request = 8, echo_reply = 0, arp_request = 1, arp_reply = 2;
inline constexpr unsigned fin = 1, syn = 2, push = 8, ack = 16; ///< flags of TCP

/// The sum of RFC 1071 so far; `sum` is that of what stands before, of even length.
inline unsigned add(const Byte *data, size_t size, unsigned sum = 0)
{
    for (size_t i = 0; i + 1 < size; i += 2) sum += get16(data + i);
    return size % 2 ? sum + static_cast<unsigned>(data[size - 1] << 8) : sum;
}
inline unsigned folded(unsigned sum)
{
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    return ~sum & 0xFFFF;
}
