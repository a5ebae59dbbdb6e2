// SPDX-License-Identifier: BSD-2-Clause
// A card as lwIP's network interface.
#pragma once

#include <lwip/etharp.h>
#include <lwip/netif.h>

/// What lwIP wants to know of an interface when it is added; `transmit` sends a frame.
inline signed char begin_ethernet(netif *interface, netif_linkoutput_fn transmit)
{
    interface->name[0] = 'e';
    interface->name[1] = 'n';
    interface->output = etharp_output;
    interface->linkoutput = transmit;
    interface->mtu = 1500;
    interface->hwaddr_len = 6;
    interface->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
    return ERR_OK;
}
