// SPDX-License-Identifier: BSD-2-Clause
// What a frame is to TCP, before lwIP has seen it.
#pragma once

#include <lwip/def.h>
#include <lwip/prot/ethernet.h>
#include <lwip/prot/ip4.h>
#include <lwip/prot/tcp.h>
#include <string.h>

struct Segment {
    size_t bytes; ///< of data; 0 for whatever is no whole segment of TCP over IPv4
    u16_t from, to; ///< ports
    u32_t address; ///< the sender's, in the network's order
    bool is_part; ///< of a segment in several packets; the other fields are 0
};

inline Segment segment_in(const char *frame, size_t size)
{
    eth_hdr ethernet;
    ip_hdr ip;
    tcp_hdr tcp;
    if (size < sizeof ethernet + sizeof ip) return {};
    memcpy(&ethernet, frame, sizeof ethernet);
    memcpy(&ip, frame + sizeof ethernet, sizeof ip);
    const size_t head = IPH_HL(&ip) * 4u, length = lwip_ntohs(IPH_LEN(&ip));
    const bool is_part = lwip_ntohs(IPH_OFFSET(&ip)) & (IP_OFFMASK | IP_MF);
    if (ethernet.type != PP_HTONS(ETHTYPE_IP) || IPH_PROTO(&ip) != IP_PROTO_TCP) return {};
    if (is_part) return {0, 0, 0, 0, true};
    if (length > size - sizeof ethernet || length < head + sizeof tcp) return {};
    memcpy(&tcp, frame + sizeof ethernet + head, sizeof tcp);
    const size_t heads = head + TCPH_HDRLEN(&tcp) * 4u;
    if (length < heads) return {};
    return {length - heads, lwip_ntohs(tcp.src), lwip_ntohs(tcp.dest), ip.src.addr, false};
}
