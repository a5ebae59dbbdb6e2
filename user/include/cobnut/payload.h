// SPDX-License-Identifier: BSD-2-Clause
// What a program needs beside the manual's interface (l4/*.h), for C and C++: its entry and the console.
#ifndef COBNUT_PAYLOAD_H
#define COBNUT_PAYLOAD_H
#include <l4/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The program; yours. A payload's result goes to root (0 is success), a root server's ends the machine.
int cobnut_main(const char *command_line);

/// Prints to the kernel's console: %d %u %x %X %c %s %p %%, with flags 0 and -, a width, a precision for %s, and ll for
/// 64-bit numbers. At most 255 characters come out, as one piece; returns how many the whole text has.
int cobnut_printf(const char *text, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif
#endif
