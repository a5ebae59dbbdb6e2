// SPDX-License-Identifier: BSD-2-Clause
// The linear address space, the selectors and the vectors, for C++ and for the assembler alike (only #define here).
//
//   0 .. large limit          the large space in force, or nothing that a small space can reach
//   small area                slots of small spaces, ends at KERNEL_BASE; its size is the boot option small=
//   KERNEL_BASE               window on physical memory 0 .. 240 MB; the kernel image is part of it
//   TRAMPOLINE_PAGE           two user-executable instructions on the way back from sysexit
//   UTCB_WORD_PAGE            the word behind gs:0
//   READ_PAGE, WRITE_PAGE     a frame beyond the window, while the kernel reads from it or writes to it
//   IDT_PAGE                  the interrupt table, to be read only
//   THREAD_TABLE              thread control block addresses by thread number, 1 MB
#pragma once

#define KERNEL_BASE        0xf0000000
#define WINDOW_FIRST       0
#define WINDOW_BYTES       0x0f000000
#define FIXED_AREA         0xffc00000
#define TRAMPOLINE_PAGE    0xffc00000
#define UTCB_WORD_PAGE     0xffc01000
#define READ_PAGE          0xffc02000
#define WRITE_PAGE         0xffc03000
#define IDT_PAGE           0xffc04000
#define THREAD_TABLE       0xffd00000
#define USER_LIMIT_MAX     0xc0000000
#define KERNEL_STACK_BYTES 8192
// Without the option kmem=; the rest of the window is for what the loader puts there.
#define KERNEL_MEMORY_MOST (WINDOW_BYTES / 2)

// The trampoline's offset in its page is the user data selector: the low half of the address that sysexit needs in EDX
// is at the same time what goes into the segment registers, which saves an instruction on the IPC path.
#define TRAMPOLINE 0xffc00023

// sysenter and sysexit want kernel code, kernel data, user code and user data next to each other.
#define KERNEL_CODE  0x08
#define KERNEL_DATA  0x10
#define USER_CODE    0x1b
#define USER_DATA    0x23
#define USER_UTCB    0x2b
#define TSS_SELECTOR 0x30
#define USER_TLS     0x3b
#define FAULT_TSS    0x40

#define EFLAGS_USER 0x202
#define EFLAGS_TF   0x100
#define EFLAGS_IF   0x200
#define EFLAGS_IOPL 0x3000
#define EFLAGS_VM   0x20000
// Users may change the arithmetic flags, DF, TF and RF, which lets a thread go on behind a breakpoint; never IF, IOPL,
// NT, VM or AC.
#define EFLAGS_CHANGEABLE 0x10dd5
#define CR0_TASK_SWITCHED 8
// The bits of DR6 that are not there.
#define DEBUG_STATUS_ONES 0xffff0ff0

#define VECTOR_IRQ      0x20
#define VECTOR_IPC      0x30
#define VECTOR_SYSCALLS 0x31
#define SYSCALLS        9

// How many switches by the fast path there are to a space without a host between two looks at that (arch/paging.hpp).
// The checked kernel uses it up all the time.
#ifdef COBNUT_CHECKED
#define SWITCH_BUDGET 2
#else
#define SWITCH_BUDGET 0xffff
#endif

// Calls of another system's by sysenter have numbers from 1 to this in EAX, which are no thread's ids; their exceptions
// have an error code that the processor has not; with another one in its answer, such a thread leaves by sysexit
// (docs/controlled-spaces.md).
#define GATE_CALLS  0x3fff
#define GATE_ERROR  0x10000
#define GATE_ANSWER 0x10001

// In the header of the programs that it runs.
#define ELF_MACHINE 3
