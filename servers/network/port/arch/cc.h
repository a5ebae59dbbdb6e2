/* SPDX-License-Identifier: BSD-2-Clause */
/* What lwIP asks of a compiler and a machine. */
#ifndef COBNUT_LWIP_CC_H
#define COBNUT_LWIP_CC_H

#include <cobnut/payload.h>
#include <sys/types.h>

#define LWIP_NO_INTTYPES_H 1
#define LWIP_NO_CTYPE_H 1
#define LWIP_NO_UNISTD_H 1
#define X8_F "02x"
#define U16_F "u"
#define S16_F "d"
#define X16_F "x"
#define U32_F "u"
#define S32_F "d"
#define X32_F "x"
#define SZT_F "u"

#ifdef __cplusplus
extern "C" {
#endif
/* Ends the server, whose creator hears of it. */
void network_failed(const char *what, int line, const char *file) __attribute__((noreturn));
unsigned network_random(void);
#ifdef __cplusplus
}
#endif

#define LWIP_PLATFORM_DIAG(x)                                                                                          \
    do {                                                                                                               \
        cobnut_printf x;                                                                                               \
    } while (0)
#define LWIP_PLATFORM_ASSERT(what) network_failed(what, __LINE__, __FILE__)
#define LWIP_RAND() network_random()

#endif
