// SPDX-License-Identifier: BSD-2-Clause
// From the boot loader, which follows Linux's convention (its Documentation/arch/arm/booting.rst): MMU and caches off,
// at RAM_BASE + IMAGE_OFFSET, R0 = 0, R1 = machine number, R2 = physical address of the tag list. To C++ at IMAGE.

#include "arm/layout.hpp"

#define PHYS(x) ((x) - IMAGE + RAM_BASE)
// A section: kernel only, domain 0, cached and buffered.
#define SECTION_CACHED 0x41e
// Control register: MMU, alignment faults, data cache, write buffer, bits that are ones, instruction cache, high
// vectors.
#define CONTROL_ON 0x307f

        .section .boot, "ax"
        .globl  boot_start
boot_start:
        msr     cpsr_c, #(MODE_SUPERVISOR | MASK_IRQ | MASK_FIQ)
        mov     r4, r2
        mov     r0, #0
        mcr     p15, 0, r0, c7, c7, 0           // both caches: nothing in them
        mcr     p15, 0, r0, c8, c7, 0           // likewise the TLBs
        ldr     r1, =PHYS(bss_start)
        ldr     r2, =PHYS(bss_end)
1:      cmp     r1, r2
        strlo   r0, [r1], #4
        blo     1b

        // The image's megabyte, and for the moment the same at its physical address.
        ldr     r1, =PHYS(boot_directory)
        ldr     r2, =SECTION_CACHED + RAM_BASE
        add     r3, r1, #(RAM_BASE >> 18)
        str     r2, [r3]
        add     r3, r1, #(IMAGE >> 18) & 0x3f00
        str     r2, [r3, #(IMAGE >> 18) & 0xff]
        mcr     p15, 0, r1, c2, c0, 0
        ldr     r2, =DOMAINS_ALL
        mcr     p15, 0, r2, c3, c0, 0
        ldr     r2, =CONTROL_ON
        ldr     r3, =1f
        mcr     p15, 0, r2, c1, c0, 0
        mov     pc, r3

1:      // All modes that an exception can enter find the same stack pointer (arm/cpu.hpp).
        ldr     r5, =processor
        msr     cpsr_c, #(MODE_IRQ | MASK_IRQ | MASK_FIQ)
        mov     sp, r5
        msr     cpsr_c, #(MODE_ABORT | MASK_IRQ | MASK_FIQ)
        mov     sp, r5
        msr     cpsr_c, #(MODE_UNDEFINED | MASK_IRQ | MASK_FIQ)
        mov     sp, r5
        msr     cpsr_c, #(MODE_SUPERVISOR | MASK_IRQ | MASK_FIQ)
        mov     sp, r5
        mov     r0, r4
        ldr     lr, =leave_to_user
        ldr     pc, =boot_main
        .ltorg

        .section .bss.boot_tables, "aw", %nobits
        .balign 16384
        .globl  boot_directory
boot_directory:
        .skip   16384

        .section .bss.stack, "aw", %nobits
        .balign 64
        .skip   8192 + 224                      // what is used most is before that set of a cache in which pages begin
        .globl  processor, ready_top
processor:
        .skip   64
        .set    ready_top, processor + 4
