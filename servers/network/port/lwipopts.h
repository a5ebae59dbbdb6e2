/* SPDX-License-Identifier: BSD-2-Clause */
/* How lwIP is built for servers/network: without threads, all calls come from the server's one loop. What is not here
   is as in lwip/opt.h. */
#ifndef COBNUT_LWIPOPTS_H
#define COBNUT_LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_STATS 0
#define LWIP_PROVIDE_ERRNO 0
#define LWIP_IPV6 0

#define LWIP_DHCP 1
#define LWIP_DNS 1
#define ARP_QUEUEING 1 /* connections that begin together wait for one answer */
#define ARP_QUEUE_LEN 16
#define LWIP_NETIF_STATUS_CALLBACK 1
#define LWIP_NETIF_LINK_CALLBACK 0
#define SO_REUSE 1
#define LWIP_SO_RCVBUF 0
#define LWIP_TCP_KEEPALIVE 1

/* Memory: as much as a few hundred connections need. */
#define MEM_ALIGNMENT 4
#define MEM_SIZE (1024 * 1024)
#define MEMP_NUM_TCP_PCB 1100
#define MEMP_NUM_TCP_PCB_LISTEN 32
#define MEMP_NUM_UDP_PCB 64
#define MEMP_NUM_TCP_SEG 2048
#define MEMP_NUM_PBUF 512
#define MEMP_NUM_ARP_QUEUE 64
#define PBUF_POOL_SIZE 512
#define MEMP_NUM_SYS_TIMEOUT 16

#define TCP_MSS 1460
#define TCP_WND (22 * TCP_MSS)
#define TCP_SND_BUF (22 * TCP_MSS)
#define TCP_SND_QUEUELEN 96
#define TCP_LISTEN_BACKLOG 1
#define TCP_OVERSIZE TCP_MSS

#endif
