// SPDX-License-Identifier: BSD-2-Clause
// Attempts to get out of a segment: one table and one text of assembly for two harnesses, a small space on Cobnut
// (main.cc) and a 32-bit Linux process whose LDT stands for the slots (linux/main.cc).
//
// An attempt is a few position-independent instructions that run under segments which reach from 0 to the end of the
// attacker's slot. It ends with ud2 and what it got in EAX, if it is not stopped before.
//   in: ESI where to (see Target), EDI the middle of its own scratch page, EBX a selector, ECX a count, EAX `mark`,
//       ESP its own stack.
// Foreign memory is full of `foreign_fill`, which traps when executed; the attacker's own is full of `own_fill`.
#ifndef COBNUT_ATTACK_ATTEMPTS_H
#define COBNUT_ATTACK_ATTEMPTS_H

namespace attack {

using Word = unsigned;

inline constexpr unsigned char foreign_fill = 0xCC; // int3
inline constexpr unsigned char own_fill = 0x90;     // nop
inline constexpr Word mark = 0x5A5A5A5A;            // what is written

/// What ESI is counted from.
enum class Target {
    own,     ///< the middle of the scratch page
    edge,    ///< the slot's end: the first byte that is the neighbour's above
    wrap,    ///< the slot's beginning; negative offsets are the neighbour's below
    above,   ///< the middle of a page of the neighbour's above
    host,    ///< a page of the large space whose page directory is in force
    kernel,  ///< the kernel's text
    linear,  ///< that page of the neighbour's above, by its linear address: for segments that begin at 0
};

/// How an attempt has to end. A kernel may turn an access past the limit into a fault at the attacker's own address.
enum class Refusal {
    limit,      ///< a protection or stack fault; on Cobnut: after promotion a fault at the attacker's own address
    selector,   ///< a protection fault that names EBX
    vector,     ///< a protection fault that names the interrupt vector `detail`
    privileged, ///< a protection fault (0), or undefined on a processor without the instruction
    protection, ///< a protection fault (0)
    port,       ///< a protection fault (0); on Cobnut: a message about the port to the pager
    /// a protection fault (0); on Cobnut also: the register is loaded anew, and the attempt reads its own memory
    null,
    task,       ///< invalid task state (0); a processor in long mode: a protection fault
    value,      ///< it comes to its end with EAX = `detail`
    flags,      ///< it comes to its end with EAX = 0: no flag changed that is not the attacker's
};

/// A segment of the attacker's own with its base at its scratch page, whose limits are to be those of the space: the
/// part from the base upwards, or the part below it (expand-down). ESI is then counted from that base.
enum class Segment { none, up, down };

struct Place {
    Target target;
    int offset;
};

struct Attempt {
    const char *name;
    const char *code;
    Place to;
    Refusal refusal;
    Place inside;     ///< the same instructions inside the limits: have to come to their end
    Word selector;    ///< EBX; inside: the attacker's own code or data (`own_code`)
    Word count;       ///< ECX
    Word detail;
    bool own_code;    ///< the selector is for a code segment
    bool has_inside;  ///< false: nothing to compare with, the instruction itself is forbidden
    Segment segment = Segment::none; ///< its selector is in EBX
    bool any_limit = false; ///< a segment of 4 GB stops it, too
};

/// Ends with a null name.
extern const Attempt attempts[];

} // namespace attack

extern "C" const char attack_code_start[], attack_code_end[];
#endif
