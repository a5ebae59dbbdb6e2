/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of POSIX' <unistd.h>. Descriptors 0 to 2 are the console, which can be written to; others are sockets
   (libs/sockets, which has read, write and close). */
#ifndef COBNUT_C_UNISTD_H
#define COBNUT_C_UNISTD_H
#include <sys/types.h>

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2

#ifdef __cplusplus
extern "C" {
#endif
ssize_t read(int fd, void *to, size_t size);
ssize_t write(int fd, const void *from, size_t size);
int close(int fd);
unsigned sleep(unsigned seconds);
int usleep(unsigned microseconds);
#ifdef __cplusplus
}
#endif
#endif
