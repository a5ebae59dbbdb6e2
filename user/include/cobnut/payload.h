// SPDX-License-Identifier: BSD-2-Clause
// What a program needs beside the manual's interface (l4/*.h), for C and C++: its entry, the console, and names.
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

/// The thread of the payload that root has started under this name: the file's, or NAME if its command line says
/// name=NAME. The first one if there are several; nilthread if there is none, or none any more. Names have at most 47
/// characters.
L4_ThreadId_t cobnut_find(const char *name);

/// What cobnut_find says to root, the caller's pager: this label and the name, padded with zeros to whole words. The
/// answer is the id in MR1.
enum { COBNUT_FIND_LABEL = 0xE018, COBNUT_NAME_WORDS = 12 };

#ifdef __cplusplus
}
#endif
#endif
