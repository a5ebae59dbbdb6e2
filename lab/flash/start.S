// SPDX-License-Identifier: BSD-2-Clause
// The first bytes of an image that `cobnut flash` writes. A boot loader has loaded the image to any place in memory
// that the kernel leaves alone, or it stands in flash; memory works, MMU and data cache are off. What a loader by
// Linux's convention does comes here: the kernel to its place, a tag list, a disk with the modules. It runs wherever
// it is.

#define SUPERVISOR_MASKED 0xd3

        .text
        .arm
        .globl  flash_start
flash_start:
        msr     cpsr_c, #SUPERVISOR_MASKED
        adr     r9, flash_start
        adr     r10, values

        ldmia   r10!, {r0-r4}           // memory: start, bytes; archive: offset, bytes, place
        add     r2, r9, r2
        sub     r5, r9, r0
        cmp     r5, r1
        movlo   r8, r2                  // it is in memory and stays where it is
        movhs   r8, r4
        blhs    copy
        ldmia   r10!, {r2-r4}           // kernel: offset, bytes, place
        add     r2, r9, r2
        mov     r7, r4
        bl      copy
        ldmia   r10!, {r2-r4}           // tag list, likewise
        add     r2, r9, r2
        mov     r6, r4
        bl      copy

        ldmia   r10, {r1, r3}           // machine number; where in the tags the archive's address belongs
        str     r8, [r6, r3]
        mov     r0, #0
        mcr     p15, 0, r0, c7, c10, 4  // the write buffer: empty
        mcr     p15, 0, r0, c7, c5, 0   // the instruction cache: nothing in it
        mov     r2, r6
        mov     pc, r7

// r3 bytes, a multiple of 4, from r2 to r4
copy:
        ldr     r5, [r2], #4
        str     r5, [r4], #4
        subs    r3, r3, #4
        bhi     copy
        mov     pc, lr

values:                                 // lab/cobnut/flash.py puts them here
