// SPDX-License-Identifier: BSD-2-Clause
// The virtual address space, for C++ and for the assembler alike (only #define here).
//
//   0 .. USER_LIMIT           the running space; the first 32 MB can be relocated by the PID register
//   UTCB_AREAS                the UTCBs of each space in a megabyte of its own: the same address for kernel and user,
//                             so that a virtual cache holds one copy
//   WINDOW                    window on physical memory: cached where the kernel's own memory is, uncached elsewhere
//   THREAD_TABLE              where threads are found by number
//   DEVICES                   the board's devices, uncached
//   ZEROS                     where there is one (ZERO_BANK): memory that is all zeros and needs no access to the bus,
//                             cached
//   UTCB_WORD_PAGE            a page that users can read: the running thread's UTCB address; behind it two for the
//                             kernel, with what the window does not reach
//   IMAGE                     the first megabyte of the memory: the kernel's image; one section, and so one TLB entry
//   VECTORS                   in it: the exception vectors, and the addresses that users jump to for system calls
#pragma once

#include "board_layout.hpp"

#define USER_LIMIT     0xd0000000
#define UTCB_AREAS     0xd0000000
#define UTCB_AREAS_END 0xf0000000
#define WINDOW         0xf0000000
#define WINDOW_FIRST   RAM_BASE
#define WINDOW_BYTES   0x0e000000
#define THREAD_TABLE   0xfe000000
#define DEVICES        0xfe100000
#define ZEROS          0xfef00000
#define UTCB_WORD_PAGE 0xff000000
#define IMAGE          0xfff00000
#define IMAGE_BYTES    0x00100000
#define IMAGE_OFFSET   0x00010000
#define VECTORS        0xffff0000
#define SYSTEM_CALLS   0xffffff00

// A quarter of what a Zaurus has, also on emulators that give it eight times that: what has run there is to fit.
#define KERNEL_MEMORY_MOST (16 << 20)

// Processor modes and mask bits (ARM architecture manual, A2.5).
#define MODE_USER       0x10
#define MODE_IRQ        0x12
#define MODE_SUPERVISOR 0x13
#define MODE_ABORT      0x17
#define MODE_UNDEFINED  0x1b
#define MASK_IRQ        0x80
#define MASK_FIQ        0x40
#define STATE_THUMB     0x20
#define STATE_JAVA      0x01000000

// UTCB addresses in one page differ in these bits; how far before one the thread's global id stands; the bits of an id
// that are never all zero, but in local ones (manual 3.1, A.1).
#define UTCB_NUMBER       0xe00
#define UTCB_MY_GLOBAL_ID 60
#define ID_VERSION        0x3f

// Of the boards' interrupt controllers. Their numbers are those of the first threads.
#define INTERRUPT_LINES 32

// What trap() is told (arm/trap.hpp).
#define TRAP_UNDEFINED 0
#define TRAP_SWI       1
#define TRAP_PREFETCH  2
#define TRAP_DATA      3
#define TRAP_IRQ       4

// Domains: 0 is the kernel's. In the kernel the processor is a client of all: page table entries decide what it may do.
#define DOMAIN_KERNEL 0
#define DOMAINS_ALL   0x55555555

// In the header of the programs that it runs.
#define ELF_MACHINE 40
