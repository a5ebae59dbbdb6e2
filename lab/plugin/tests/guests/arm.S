// SPDX-License-Identifier: GPL-2.0-or-later
// A guest for the Versatile board: tables of sections at 0x4000, everything cached and at its physical address, and
// addresses below 32 MB relocated to the second slot by the process identifier. Cases as the tests name them.

        .equ    TABLES, 0x4000
        .equ    SECTION, 0xc1e                  // all may write, domain 0, cached and buffered
        .equ    SLOT, 32 << 20

        .macro  mark kind, case
        ldr     r0, =0xc0b00000 + \kind
        mov     r1, #\case
        mov     r12, r12
        .endm

        .text
        .globl  _start
_start:
        mov     r2, #0
        ldr     r1, =TABLES
        ldr     r3, =SECTION
1:      orr     r4, r3, r2, lsl #20             // 64 sections, and the same 32 again in the second slot
        cmp     r2, #32
        subge   r4, r4, #SLOT
        str     r4, [r1, r2, lsl #2]
        add     r2, r2, #1
        cmp     r2, #64
        blt     1b
        ldr     r4, =0x10000000 | 0xc12         // the board's devices, uncached
        str     r4, [r1, #0x100 << 2]
        ldr     r4, =0x10100000 | 0xc12
        str     r4, [r1, #0x101 << 2]
        mcr     p15, 0, r1, c2, c0, 0
        mov     r2, #1
        mcr     p15, 0, r2, c3, c0, 0
        mrc     p15, 0, r0, c1, c0, 0
        orr     r0, r0, #1 << 12
        orr     r0, r0, #5
        mcr     p15, 0, r0, c1, c0, 0

        // The vector of data aborts is copied to 0x10, with the words that it needs.
        ldr     r0, =vector
        mov     r1, #0x10
        ldmia   r0, {r2, r3}
        stmia   r1, {r2, r3}
        msr     cpsr_c, #0xd7
        ldr     sp, =0x20000
        msr     cpsr_c, #0xd3
        ldr     sp, =0x1f000

        // Case 1: 3 instructions between two markers, and the marker itself.
        mark    1, 1
        mark    2, 1
        mark    2, 1
        mark    3, 1

        // Case 2: 8 words of one line are written and read, the line cleaned, the address not mapped: an abort that
        // skips.
        mov     r10, #4
        mark    1, 2
2:      mark    2, 2
        ldr     r5, =0x100000
        ldmia   r5, {r6-r9}
        stmia   r5, {r6-r9}
        mcr     p15, 0, r5, c7, c10, 1
        mov     r6, #0
        mcr     p15, 0, r6, c7, c10, 4
        ldr     r5, =0x80000000
        ldr     r6, [r5]                        // aborts
        subs    r10, r10, #1
        bne     2b
        mark    2, 2
        mark    3, 2

        // Case 3: everything flushed.
        mov     r10, #3
        mark    1, 3
3:      mark    2, 3
        mov     r6, #0
        mcr     p15, 0, r6, c7, c7, 0
        mcr     p15, 0, r6, c8, c7, 0
        subs    r10, r10, #1
        bne     3b
        mark    2, 3
        mark    3, 3

        // Case 4: relocated and back; a read of the same frame at its other address.
        mov     r10, #3
        mark    1, 4
4:      mark    2, 4
        mov     r6, #SLOT
        mcr     p15, 0, r6, c13, c0, 0
        ldr     r5, =0x100000
        ldr     r7, [r5]
        mov     r6, #0
        mcr     p15, 0, r6, c13, c0, 0
        subs    r10, r10, #1
        bne     4b
        mark    2, 4
        mark    3, 4

        // Writes to the serial line, which make QEMU begin an instruction again.
        mov     r10, #3
        ldr     r5, =0x101f1000
        mov     r7, #'.'
        mark    1, 5
5:      mark    2, 5
        str     r7, [r5]
        subs    r10, r10, #1
        bne     5b
        mark    2, 5
        mark    3, 5

        // Without marks: what is printed, a loop, and system calls of a program.
        mov     r10, #3
        mov     r7, #'o'
7:      str     r7, [r5]
        subs    r10, r10, #1
        bne     7b
        mov     r7, #'!'
        str     r7, [r5]

        mov     r10, #5
again:  nop
        nop
        subs    r10, r10, #1
        bne     again
behind: ldr     r0, =vector_of_calls
        mov     r1, #0x8
        ldmia   r0, {r2, r3}
        stmia   r1, {r2, r3}
        mcr     p15, 0, r1, c7, c10, 1
        mov     r6, #0
        mcr     p15, 0, r6, c7, c10, 4
        mcr     p15, 0, r6, c7, c5, 0
        msr     cpsr_c, #0xd0
        ldr     sp, =0x1e000
        mov     r10, #4
calls:  mov     r7, #20
        svc     0
        mov     r7, #3
        svc     0
        subs    r10, r10, #1
        bne     calls
finished:
        mov     r7, #1
        svc     0
called: cmp     r7, #1
#ifdef PROCESSES
        beq     5f
        cmp     r7, #3                          // lets the other one run
        ldreq   r0, =current
        ldmeqia r0, {r1, r2}
        streq   r1, [r0, #4]
        streq   r2, [r0]
        movs    pc, lr
#else
        movnes  pc, lr
#endif

5:      mov     r0, #0x18                       // semihosting: the program has ended
        ldr     r1, =0x20026
        svc     0x123456
6:      b       6b
        .ltorg

vector_of_calls:
        ldr     pc, 1f
1:      .word   called
vector: ldr     pc, 1f
1:      .word   abort
abort:  subs    pc, lr, #4                      // behind the instruction that has aborted
handled:
        nop

#ifdef PROCESSES
#include "tasks.inc"
#endif
