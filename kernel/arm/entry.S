// SPDX-License-Identifier: BSD-2-Clause
// Ways into the kernel and out of it. Every exception mode finds `processor` as its stack pointer, and the kernel's
// only stack below it, which is empty whenever a user runs. An entry from user mode saves the registers right where
// they belong, in the running thread; the way out loads those of the thread that runs next.

#include "arm/layout.hpp"
#include "offsets.h"

        .section .vectors, "ax"
        b       vector_reset
        b       vector_undefined
        b       vector_swi
        b       vector_prefetch
        b       vector_data
        b       vector_reset
        b       vector_irq
vector_reset:                                   // reset and FIQ: no board uses it
        b       vector_reset

        .text
// In the exception's mode: LR is `adjust` bytes past the user's program counter.
        .macro  entry name, kind, adjust
        .globl  vector_\name
vector_\name:
        .if \adjust
        sub     lr, lr, #\adjust
        .endif
        str     lr, [sp, #PROCESSOR_SAVED_PC]
        mrs     lr, spsr
        str     lr, [sp, #PROCESSOR_SAVED_PSR]
        tst     lr, #0xf
        bne     1f
        ldr     lr, [sp, #PROCESSOR_CURRENT]
        add     lr, lr, #THREAD_REGISTERS
        stmia   lr, {r0-r14}^
        mov     r1, #\kind
        mov     r0, lr
        b       from_user
1:      mov     r0, #\kind
        b       from_kernel
        .endm

        entry   undefined, TRAP_UNDEFINED, 0
        entry   swi, TRAP_SWI, 0
        entry   abort, TRAP_PREFETCH, 4         // a prefetch abort that is no IPC (fastpath.S)
        entry   data, TRAP_DATA, 8
        entry   irq, TRAP_IRQ, 4

// R0: the running thread's registers. R1: what it was.
from_user:
        msr     cpsr_c, #(MODE_SUPERVISOR | MASK_IRQ | MASK_FIQ)
        ldr     r2, =DOMAINS_ALL                // all UTCBs are in reach
        mcr     p15, 0, r2, c3, c0, 0
        ldr     r2, [sp, #PROCESSOR_SAVED_PC]
        ldr     r3, [sp, #PROCESSOR_SAVED_PSR]
        str     r2, [r0, #REGISTERS_PC]
        str     r3, [r0, #REGISTERS_CPSR]
        sub     r0, r0, #THREAD_REGISTERS
        bl      trap
        cmp     r0, #0
        bne     leave

// The way out: loads the next thread's registers from its control block; without one, waits for an interrupt.
        .globl  leave_to_user
leave_to_user:
        ldr     sp, =processor
        bl      leave_kernel
        cmp     r0, #0
        beq     idle
leave:
        add     lr, r0, #THREAD_REGISTERS
        ldr     r0, [lr, #REGISTERS_CPSR]
        msr     spsr_cxsf, r0
        ldmia   lr, {r0-r14}^
        nop                                     // user registers may not be named next
        ldr     lr, [lr, #REGISTERS_PC]
        movs    pc, lr

idle:   msr     cpsr_c, #(MODE_SUPERVISOR | MASK_FIQ)
1:      bl      wait_for_interrupt
        b       1b

// As memcpy(), from or to frames where perhaps nothing answers (arm/trap.hpp).
        .globl  copy_if_there
copy_if_there:
        stmfd   sp!, {r3-r11, lr}               // an even number: the stack stays aligned to 8 bytes
        ldr     r4, =processor
        str     sp, [r4, #PROCESSOR_COPYING]
        bl      memcpy
        mov     r0, #1
1:      mov     r1, #0
        str     r1, [r4, #PROCESSOR_COPYING]
        ldmfd   sp!, {r3-r11, pc}

// An abort in the middle of that. Those that the bus makes, on a walk of page tables, too, have even numbers.
in_copy:
        cmp     r0, #TRAP_DATA
        bne     forget
        mrc     p15, 0, r1, c5, c0, 0
        tst     r1, #1
        bne     forget
        mov     r4, sp
        mov     sp, r2
        mov     r0, #0
        b       1b

// Only the idle loop and preemption points run with interrupts on; what they were doing is forgotten.
from_kernel:
        msr     cpsr_c, #(MODE_SUPERVISOR | MASK_IRQ | MASK_FIQ)
        ldr     sp, =processor
        ldr     r2, [sp, #PROCESSOR_COPYING]
        cmp     r2, #0
        bne     in_copy
forget: ldr     r1, [sp, #PROCESSOR_SAVED_PC]
        ldr     r2, [sp, #PROCESSOR_SAVED_PSR]
        bl      kernel_trap
        b       leave_to_user
        .ltorg
