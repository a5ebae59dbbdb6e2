@ SPDX-License-Identifier: BSD-2-Clause
@ The two doors to the kernel (declared in l4/processor/arm.h). Both find the caller's kernel interface page through the
@ word ThreadWord1 of its UTCB, filled on first use by KernelInterface, and then call page base + entry offset. The
@ kernel keeps R11 and SP, and what is a parameter neither in nor out of R0 to R7; R8 to R10, R12 and LR are lost.

        .set    UTCB_WORD, 0xff000000
        .set    UTCB_THREAD_WORD1, -20
        .text

@ __L4_Kip_Base(): R0 = base. Keeps all other registers but R12.
        .globl  __L4_Kip_Base
        .type   __L4_Kip_Base, %function
__L4_Kip_Base:
        mov     r12, #UTCB_WORD
        ldr     r12, [r12]
        ldr     r0, [r12, #UTCB_THREAD_WORD1]
        cmp     r0, #0
        movne   pc, lr
        stmfd   sp!, {r1-r3, r12, lr}
        mov     lr, pc
        mvn     pc, #(0xff - 0xb4)      @ R0 base, R1 version, R2 flags, R3 kernel id
        ldmfd   sp!, {r1-r3, r12, lr}
        str     r0, [r12, #UTCB_THREAD_WORD1]
        mov     pc, lr
        .size   __L4_Kip_Base, . - __L4_Kip_Base

@ L4_Word_t __L4_Ipc_Stub(to, from_specifier, timeouts, from *, field)
        .globl  __L4_Ipc_Stub
        .type   __L4_Ipc_Stub, %function
__L4_Ipc_Stub:
        stmfd   sp!, {r3-r11, lr}
        mov     r4, r0
        bl      __L4_Kip_Base
        ldr     r12, [sp, #40]          @ field
        ldr     r12, [r0, r12]
        add     r12, r12, r0
        mov     r0, r4
        mov     r11, #UTCB_WORD
        ldr     r11, [r11]
        ldmia   r11, {r3-r7}            @ MR0 to MR4
        mov     lr, pc
        mov     pc, r12
        stmia   r11, {r3-r7}
        ldr     r12, [sp], #4           @ from
        cmp     r12, #0
        strne   r0, [r12]
        mov     r0, r3
        ldmfd   sp!, {r4-r11, pc}
        .size   __L4_Ipc_Stub, . - __L4_Ipc_Stub

@ void __L4_Call_Stub(field, regs *)
        .globl  __L4_Call_Stub
        .type   __L4_Call_Stub, %function
__L4_Call_Stub:
        stmfd   sp!, {r4-r11, lr}
        mov     r11, r1
        mov     r4, r0
        bl      __L4_Kip_Base
        ldr     r12, [r0, r4]
        add     r12, r12, r0
        ldmia   r11, {r0-r7}
        mov     lr, pc
        mov     pc, r12
        stmia   r11, {r0-r7}
        ldmfd   sp!, {r4-r11, pc}
        .size   __L4_Call_Stub, . - __L4_Call_Stub
