// SPDX-License-Identifier: BSD-2-Clause
// The kernel interface page (manual 1.1), with the code that user programs call. A system call is a jump to an address
// where no user may execute: one instruction, and the prefetch abort's vector knows by the address what is wanted.

#include "arm/layout.hpp"

#define DESCRIPTORS 0x180

        .section .kip, "aw", %progbits
        .balign 4096
        .globl  kip
kip:    .byte   'L', '4', 0xe6, 'K'
        .long   0x84050000                      // X.2, revision 5
        .long   0                               // little endian, 32 bits
        .long   kernel_description - kip
        .fill   4, 4, 0                         // no kernel debugger to load
        .fill   12, 4, 0                        // sigma0, sigma1, root server: the boot's
        .long   0
        .long   DESCRIPTORS << 16
        .org    kip + 0xa8
        .long   12 << 16 | 9 << 10 | 1          // UTCB area 4 KB or more, UTCBs aligned to 512 bytes, 512 bytes each
        .long   12                              // interface page area
        .org    kip + 0xbc
        .long   0x120                           // processor descriptors
        .long   1000 << 16 | 1                  // clock: ticks of 1 ms, read to 1 us (Time periods)
        .long   48 << 20 | INTERRUPT_LINES << 8 | 18    // thread numbers: 48 the first user; 18 bits
        .long   0x111000 | 2                    // pages of 4 KB, 64 KB and 1 MB; only writing can be denied by itself
        .long   4 << 28                         // one processor; descriptors of 16 bytes
        .long   stub_space_control - kip, stub_thread_control - kip, stub_processor_control - kip
        .long   stub_memory_control - kip, stub_ipc - kip, stub_ipc - kip, stub_unmap - kip
        .long   stub_exchange_registers - kip, stub_system_clock - kip, stub_thread_switch - kip, stub_schedule - kip
        .org    kip + DESCRIPTORS

        .org    kip + 0x600
kernel_description:
        .byte   0, 0, 1, 0x80                   // experimental kernel id 0x80, subid 1
        .long   KERNEL_DATE
        .long   0                               // version 0.0.0
        .ascii  "CBNT"
        .asciz  "Cobnut: L4 X.2 with tagged spaces on untagged TLBs"
        .byte   0

// At the end of the page: in a virtual cache each space has these lines for itself, and so many spaces have code at the
// start of a page that lines there compete for few places.
        .org    kip + 0xfc0
        .macro  stub name, number
stub_\name:
        mvn     pc, #(0xff - \number)           // SYSTEM_CALLS + number
        .endm
        .balign 4
        stub    ipc, 0x00
        stub    thread_switch, 0x04
        stub    thread_control, 0x08
        stub    exchange_registers, 0x0c
        stub    schedule, 0x10
        stub    unmap, 0x14
        stub    space_control, 0x18
        stub    processor_control, 0x1c
        stub    memory_control, 0x20
        stub    system_clock, 0x24
        .org    kip + 4096
