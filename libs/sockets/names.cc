// SPDX-License-Identifier: BSD-2-Clause
// Addresses as text, and hosts by name.
#include <interfaces/network.h>
#include <system/system.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {

int inet_aton(const char *text, in_addr *address)
{
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++) {
        char *end;
        if (*text < '0' || *text > '9') return 0;
        const long value = strtol(text, &end, 10);
        if (value > 255 || *end != (i < 3 ? '.' : 0)) return 0;
        bytes[i] = static_cast<unsigned char>(value);
        text = end + 1;
    }
    memcpy(&address->s_addr, bytes, sizeof bytes);
    return 1;
}

in_addr_t inet_addr(const char *text)
{
    in_addr address;
    return inet_aton(text, &address) ? address.s_addr : INADDR_NONE;
}

int inet_pton(int family, const char *text, void *address)
{
    if (family == AF_INET) return inet_aton(text, static_cast<in_addr *>(address));
    errno = EAFNOSUPPORT;
    return -1;
}

const char *inet_ntop(int family, const void *address, char *to, socklen_t room)
{
    unsigned char bytes[4];
    memcpy(bytes, address, sizeof bytes);
    char text[INET_ADDRSTRLEN];
    snprintf(text, sizeof text, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
    errno = family != AF_INET ? EAFNOSUPPORT : ENOSPC;
    if (family != AF_INET || strlen(text) >= room) return nullptr;
    return strcpy(to, text);
}

char *inet_ntoa(in_addr address)
{
    static char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address, text, sizeof text);
    return text;
}

/// Without a host, all addresses (AI_PASSIVE) or this machine's own.
static int address_of(const char *host, const addrinfo *hints, in_addr &address)
{
    if (!host) {
        address.s_addr = htonl(hints && hints->ai_flags & AI_PASSIVE ? INADDR_ANY : INADDR_LOOPBACK);
        return 0;
    }
    if (inet_aton(host, &address)) return 0;
    if (hints && hints->ai_flags & AI_NUMERICHOST) return EAI_NONAME;
    cobnut::Session network("network");
    const auto found = network.call<Network::Resolve>(Network::Host(host));
    if (!found) return EAI_FAIL;
    if (found.value.error) return found.value.error == ENOENT ? EAI_NONAME : EAI_FAIL;
    address.s_addr = found.value.value;
    return 0;
}

int getaddrinfo(const char *host, const char *service, const addrinfo *hints, addrinfo **found)
{
    char *end = nullptr;
    const long port = service ? strtol(service, &end, 10) : 0;
    if (!host && !service) return EAI_NONAME;
    if (hints && hints->ai_family != AF_UNSPEC && hints->ai_family != AF_INET) return EAI_FAMILY;
    if (service && (end == service || *end || port < 0 || port > 65535)) return EAI_SERVICE;
    in_addr address;
    if (const int error = address_of(host, hints, address)) return error;
    struct Entry {
        addrinfo info;
        sockaddr_in address;
    };
    auto *const made = static_cast<Entry *>(calloc(1, sizeof(Entry)));
    if (!made) return EAI_MEMORY;
    made->address.sin_family = AF_INET;
    made->address.sin_port = htons(static_cast<uint16_t>(port));
    made->address.sin_addr = address;
    made->info.ai_family = AF_INET;
    made->info.ai_socktype = hints && hints->ai_socktype ? hints->ai_socktype : SOCK_STREAM;
    made->info.ai_protocol = hints ? hints->ai_protocol : 0;
    made->info.ai_addrlen = sizeof made->address;
    made->info.ai_addr = reinterpret_cast<sockaddr *>(&made->address);
    *found = &made->info;
    return 0;
}

void freeaddrinfo(addrinfo *found) { free(found); }

const char *gai_strerror(int error)
{
    switch (error) {
    case EAI_NONAME: return "Name or service not known";
    case EAI_FAMILY: return "ai_family not supported";
    case EAI_SERVICE: return "Servname not supported for ai_socktype";
    case EAI_MEMORY: return "Memory allocation failure";
    default: return "Non-recoverable failure in name resolution";
    }
}

} // extern "C"
