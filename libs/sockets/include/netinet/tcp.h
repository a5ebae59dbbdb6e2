/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COBNUT_NETINET_TCP_H
#define COBNUT_NETINET_TCP_H
#define TCP_NODELAY 1
#endif
