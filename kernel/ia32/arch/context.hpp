// SPDX-License-Identifier: BSD-2-Clause
// The user registers of a thread, in the order in which the processor moves them.
#pragma once

#include "core/x2.hpp"

// popa's order, lowest address first.
struct Registers {
    Word edi, esi, ebp, kernel_esp, ebx, edx, ecx, eax;
};
static_assert(sizeof(Registers) == 32);

// iret's order, lowest address first.
struct Frame {
    Word eip, cs, eflags, esp, ss;
};
static_assert(sizeof(Frame) == 20);

// Where a thread goes on that entered by sysenter and was left waiting by the fast path: the return address and the
// stack pointer of the stub. (An entry by `int` leaves a complete frame.)
struct FastEntry {
    Word eip, esp;
};
