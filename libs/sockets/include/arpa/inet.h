/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX' <arpa/inet.h>, for IPv4. */
#ifndef COBNUT_ARPA_INET_H
#define COBNUT_ARPA_INET_H
#include <netinet/in.h>

#ifdef __cplusplus
extern "C" {
#endif
int inet_pton(int family, const char *text, void *address);
const char *inet_ntop(int family, const void *address, char *to, socklen_t room);
/* Four decimal numbers, no other form. */
int inet_aton(const char *text, struct in_addr *address);
in_addr_t inet_addr(const char *text);
char *inet_ntoa(struct in_addr address);
#ifdef __cplusplus
}
#endif
#endif
