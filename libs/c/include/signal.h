/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of the standard's <signal.h>: there are no signals, so that to ignore one succeeds. */
#ifndef COBNUT_C_SIGNAL_H
#define COBNUT_C_SIGNAL_H
#define SIGINT 2
#define SIGPIPE 13
#define SIGTERM 15
typedef void (*sighandler_t)(int);
#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
#define SIG_ERR ((sighandler_t) - 1)
static inline sighandler_t signal(int number, sighandler_t handler)
{
    (void)number;
    return handler == SIG_IGN || handler == SIG_DFL ? SIG_DFL : SIG_ERR;
}
#endif
