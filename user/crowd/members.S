@ SPDX-License-Identifier: BSD-2-Clause
@ What the members of crowd do, with nothing but registers and, for the server, a stack. Ipc keeps R11 and SP only,
@ ThreadSwitch R0 to R7 as well (docs/x2-arm.md). All of it runs at whatever address it is copied to.

#include <cobnut/lab.h>

        .set    KIP_IPC, 0xe0
        .set    KIP_THREAD_SWITCH, 0xf4
        .set    UTCB_WORD, 0xff000000
        .set    UTCB_PAGER, -48
        .set    TAG_ERROR, 0x8000
        .set    LABEL, 16
        .set    READY, 0x0c01
        .set    FAILED, 0x0d02 @ cobnut::failed_label
        .set    ID_STEP, 14                     @ thread numbers begin here in an id

        .text
        .balign 32
        .globl  crowd_code, crowd_code_end, crowd_server, crowd_client, crowd_reader
crowd_code:

@ R11 = the interface page's entry whose offset is at `field`.
        .macro  find_entry field
        mov     lr, pc
        mvn     pc, #(0xff - 0xb4)              @ KernelInterface: R0 the page
        ldr     r11, [r0, #\field]
        add     r11, r11, r0
        .endm

@ The system call at R11.
        .macro  enter
        mov     lr, pc
        mov     pc, r11
        .endm

@ Calls root with the tag in R3 and the words behind it, without timeouts.
        .macro  call_root
        mov     r12, #UTCB_WORD
        ldr     r12, [r12]
        ldr     r0, [r12, #UTCB_PAGER]
        mov     r1, r0
        mov     r2, #0
        enter
        .endm

        .macro  mark kind, value
        ldr     r0, =\kind
        mov     r1, \value
        COBNUT_LAB_MARK
        .endm

@ Orders: MR1 the first client's id, MR2 clients and, shifted by 8, calls to warm up, MR3 seed, MR4 measured calls.
@ No other thread runs between the two: with as many clients as there are domains left, that would take one. On the
@ stack: random state, clients, first client, calls to come, measured calls that come after them.
crowd_server:
        find_entry KIP_IPC
        sub     sp, sp, #20
ready:  ldr     r3, =READY << LABEL
        call_root
        mov     r8, r5, lsr #8
        and     r5, r5, #0xff
        str     r6, [sp]
        str     r5, [sp, #4]
        str     r4, [sp, #8]
        str     r8, [sp, #12]
        str     r7, [sp, #16]
next:   ldmia   sp, {r4-r6}
        eor     r4, r4, r4, lsl #13             @ xorshift32, as Marsaglia gives it
        eor     r4, r4, r4, lsr #17
        eor     r4, r4, r4, lsl #5
        str     r4, [sp]
        mov     r0, r4, lsr #16
        mul     r1, r0, r5
        mov     r1, r1, lsr #16
        add     r0, r6, r1, lsl #ID_STEP
        mov     r1, r0
        mov     r2, #0
        mov     r3, #0
        enter
        tst     r3, #TAG_ERROR
        bne     failed
        ldr     r7, [sp, #12]
        ldr     r8, [sp, #16]
        cmp     r8, #0
        bne     unmeasured
        mark    COBNUT_LAB_ITER, #0
unmeasured:
        subs    r7, r7, #1
        str     r7, [sp, #12]
        bne     next
        cmp     r8, #0
        beq     done
        str     r8, [sp, #12]
        mov     r7, #0
        str     r7, [sp, #16]
        mark    COBNUT_LAB_BEGIN, #0
        mark    COBNUT_LAB_ITER, #0
        b       next
done:   mark    COBNUT_LAB_END, #0
        b       ready
failed: mov     r4, r3
        ldr     r3, =FAILED << LABEL | 1
        call_root
1:      b       1b
        .ltorg

@ Answers each thread that calls.
        .balign 32
crowd_client:
        find_entry KIP_IPC
        mov     r0, #0
1:      mvn     r1, #0
        mov     r2, #0
        mov     r3, #0
        enter
        b       1b

@ Orders: MR1 address, MR2 pages, MR3 turns, MR4 case, or -1 to leave no marks.
@ R4 address, R5 pages, R6 turns to come, R7 case.
        .balign 32
crowd_reader:
        find_entry KIP_IPC
        ldr     r3, =READY << LABEL
        call_root
        find_entry KIP_THREAD_SWITCH
        cmn     r7, #1
        beq     turn
        mark    COBNUT_LAB_BEGIN, r7
        mark    COBNUT_LAB_ITER, #0
turn:   mov     r0, r4
        mov     r1, r5
read:   ldrb    r2, [r0]
        add     r0, r0, #4096
        subs    r1, r1, #1
        bne     read
        mov     r0, #0
        enter
        cmn     r7, #1
        beq     1f
        mark    COBNUT_LAB_ITER, #0
1:      subs    r6, r6, #1
        bne     turn
        cmn     r7, #1
        beq     crowd_reader
        mark    COBNUT_LAB_END, r7
        b       crowd_reader
        .ltorg
crowd_code_end:
