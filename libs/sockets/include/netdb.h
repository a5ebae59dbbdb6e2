/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of POSIX' <netdb.h>: one IPv4 address of a host, services by number only. */
#ifndef COBNUT_NETDB_H
#define COBNUT_NETDB_H
#include <netinet/in.h>

struct addrinfo {
    int ai_flags, ai_family, ai_socktype, ai_protocol;
    socklen_t ai_addrlen;
    struct sockaddr *ai_addr;
    char *ai_canonname;
    struct addrinfo *ai_next;
};

#define AI_PASSIVE 1
#define AI_NUMERICHOST 4
#define AI_NUMERICSERV 0x400
#define EAI_NONAME (-2)
#define EAI_FAIL (-4)
#define EAI_FAMILY (-6)
#define EAI_SERVICE (-8)
#define EAI_MEMORY (-10)

#ifdef __cplusplus
extern "C" {
#endif
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found);
void freeaddrinfo(struct addrinfo *found);
const char *gai_strerror(int error);
#ifdef __cplusplus
}
#endif
#endif
