// SPDX-License-Identifier: BSD-2-Clause
// What every program of this tree builds on: its entry, its end, and the console.
//
// There are two kinds of programs. A server (sigma0, a root server) is started by the kernel with nothing but an IP;
// its command line lies in the BootInfo. A payload is started by `root` in a space of its own, with its command line
// on its stack.
#ifndef COBNUT_PROGRAM_H
#define COBNUT_PROGRAM_H
#include <cobnut/payload.h>

namespace cobnut {

/// Prints to the kernel's console; as for format(). Lines come out whole if they are shorter than 256 characters.
void print(const char *text, ...) __attribute__((format(printf, 1, 2)));

/// Ends a payload: tells root and never returns. Only the pager of the calling thread hears it.
[[noreturn]] void exit(int code);

/// Ends the run on an emulator: code 0 is success. QEMU exits with (code << 1) | 1, Bochs just stops. Needs the
/// right to do port I/O, which only the initial servers have. On a real machine the caller sleeps for ever.
[[noreturn]] void machine_off(int code);

/// Label of the message by which a payload tells root that it has ended; MR1 = exit code.
inline constexpr L4_Word_t exit_label = 0xE017;

} // namespace cobnut
#endif
