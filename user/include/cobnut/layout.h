// SPDX-License-Identifier: BSD-2-Clause
// How a payload's space is laid out, behind what cobnut/space.h puts at its start: for root servers that load payloads.
// All of it lies low, so that a small space of 8 MB suffices.
#ifndef COBNUT_LAYOUT_H
#define COBNUT_LAYOUT_H
#include <l4/types.h>

namespace cobnut {

/// The end of the first thread's stack; the command line is in its last bytes.
inline constexpr L4_Word_t payload_stack_top = 0x00190000, payload_argument_room = 1024;
/// No segment lies below.
inline constexpr L4_Word_t payload_low = 0x00200000;

/// Writes a payload's command line, cut off where there is no more room, and what its entry looks for below it
/// (crt0.S). `top`: where the caller has the end of the stack. Returns the payload's stack pointer.
inline L4_Word_t put_command_line(char *top, const char *line)
{
    constexpr L4_Word_t below = 16;
    char *const room = top - payload_argument_room;
    L4_Word_t size = 0;
    for (; size + 1 < payload_argument_room && line[size]; size++) room[size] = line[size];
    room[size] = 0;
    const L4_Word_t text = payload_stack_top - payload_argument_room;
    *reinterpret_cast<L4_Word_t *>(room - below) = text;
    return text - below;
}

} // namespace cobnut
#endif
