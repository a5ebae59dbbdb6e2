/* SPDX-License-Identifier: BSD-2-Clause */
/* An attacker's code, in one page, position-independent. SP is the address of its IPC stub all the time. It takes
 * orders: a message with a label goes on at MR1; one without, map items or a string, is answered. Of what it finds it
 * tells its pager. An echo is a call of another attacker's, which gets the word at MR1. */
#include "agent.h"

#define UTCB_WORD 0xff000000
#define UTCB_PAGER -48
#define UTCB_ACCEPTOR -64
#define UTCB_BUFFER -72                 /* BR2, BR1 */
#define TAG_ERROR 0x8000
#define NO_WAITING_TO_SEND 0x04000000
#define ACCEPT_MAPPINGS 0x10
#define ACCEPT_STRINGS 1

        .text
        .macro  label name
        .globl  agent_\name
agent_\name:
        .endm
        .macro  utcb register
        mov     \register, #UTCB_WORD
        ldr     \register, [\register]
        .endm
        .macro  ipc
        mov     lr, pc
        mov     pc, sp
        .endm

        .balign 4096
label begin

label start
        utcb    r12
        mov     r4, #ACCEPT_MAPPINGS
        str     r4, [r12, #UTCB_ACCEPTOR]
        ldr     r4, [r12, #UTCB_PAGER]
        str     r4, [r12, #-44]         @ its exceptions go there, too

/* What somebody else has set going has no order's number. */
label resume
        mov     r7, #0

label report
        mov     r3, #AGENT_REPORT_LABEL & 0xff
        orr     r3, r3, #AGENT_REPORT_LABEL & 0xff00
        mov     r3, r3, lsl #16
        orr     r3, r3, #4
        utcb    r12
        ldr     r0, [r12, #UTCB_PAGER]
        mov     r2, #0
1:      mvn     r1, #0
2:      ipc
        tst     r3, #TAG_ERROR
        bne     3f
        movs    r8, r3, lsr #16
        beq     agent_resume
        mov     r9, #AGENT_ECHO_LABEL
        cmp     r8, r9
        movne   pc, r4
        ldr     r4, [r4]
        mov     r3, #1
        mov     r2, #NO_WAITING_TO_SEND
        b       1b
3:      mov     r0, #0
        mov     r2, #0
        b       1b

/* The first and the last word of the page at MR2, by each kind of instruction. */
        .macro  last_word
        add     r6, r5, #0x1000
        ldr     r6, [r6, #-4]
        .endm
label read_word
        last_word
        ldr     r5, [r5]
        b       agent_report
label read_multiple
        last_word
        ldmia   r5, {r5, r8}
        b       agent_report
label read_translated
        last_word
        ldrt    r8, [r5], #0
        mov     r5, r8
        b       agent_report
label read_halves
        last_word
        ldrh    r8, [r5, #2]
        ldrh    r5, [r5]
        orr     r5, r5, r8, lsl #16
        b       agent_report

/* Writes MR3 to the word at MR2. */
label write_word
        str     r6, [r5]
        b       agent_report
label write_multiple
        stmia   r5, {r6}
        b       agent_report
label write_translated
        strt    r6, [r5], #0
        b       agent_report
label write_swapped
        swp     r8, r6, [r5]
        b       agent_report
label write_bytes
        strb    r6, [r5]
        mov     r6, r6, ror #8
        strb    r6, [r5, #1]
        mov     r6, r6, ror #8
        strb    r6, [r5, #2]
        mov     r6, r6, ror #8
        strb    r6, [r5, #3]
        b       agent_report
/* Both words from MR2 on with one instruction, which may be in two pages. */
label read_across
        ldmia   r5, {r5, r6}
        b       agent_report
label write_across
        utcb    r12
        ldr     r8, [r12, #4 * AGENT_MORE]
        mov     r9, r8
        mov     r8, r6
        stmia   r5, {r8, r9}
        b       agent_report
/* Calls the code of the page at MR2. */
label run
        add     r8, r5, #AGENT_PAGE_CODE & 0xff00
        add     r8, r8, #AGENT_PAGE_CODE & 0xff
        mov     lr, pc
        mov     pc, r8
        b       agent_report

/* Goes on at MR2. */
label jump
        mov     pc, r5

/* How many words of the page at MR2 are not MR3. */
label check
        mov     r8, #0
        mov     r9, #1024
1:      ldr     r10, [r5], #4
        cmp     r10, r6
        addne   r8, r8, #1
        subs    r9, r9, #1
        bne     1b
        mov     r5, r8
        b       agent_report

/* MR2 and MR3: a buffer for strings. */
label accept
        utcb    r12
        mov     r8, #ACCEPT_MAPPINGS | ACCEPT_STRINGS
        str     r8, [r12, #UTCB_ACCEPTOR]
        str     r5, [r12, #UTCB_BUFFER + 4]
        str     r6, [r12, #UTCB_BUFFER]
        b       agent_report

/* The system call at MR2 with R0 to R7 of the parameters: R3, R0, R1. */
label call
        mov     r11, r7
        mov     r8, r5
        utcb    r12
        add     r12, r12, #4 * AGENT_MORE
        ldmia   r12, {r0-r7}
        mov     lr, pc
        mov     pc, r8
        mov     r4, r3
        mov     r5, r0
        mov     r6, r1
        mov     r7, r11
        b       agent_report

/* Parameters: a partner, where it reads, how often, where this thread writes first (0: nowhere), what, the order's
 * number. The partner's last answer is MR2, the tag MR1. */
label ask
        utcb    r12
        add     r12, r12, #4 * AGENT_MORE
        ldmia   r12, {r0, r4, r5, r6, r7}
        cmp     r6, #0
        strne   r7, [r6]
        mov     r1, r0
        mov     r2, #0
        mov     r3, #AGENT_ECHO_LABEL
        mov     r3, r3, lsl #16
        orr     r3, r3, #1
        ipc
        utcb    r12
        tst     r3, #TAG_ERROR
        bne     1f
        ldr     r8, [r12, #4 * AGENT_MORE + 8]
        subs    r8, r8, #1
        str     r8, [r12, #4 * AGENT_MORE + 8]
        bne     agent_ask
1:      mov     r5, r4
        mov     r4, r3
        ldr     r7, [r12, #4 * AGENT_MORE + 20]
        b       agent_report
label end
        .balign 4096

/* What every page of memory has at AGENT_PAGE_CODE: calls are answered with its first word. */
        .section .rodata
        .globl  agent_page_code, agent_page_code_end
agent_page_code:
        sub     r5, pc, #AGENT_PAGE_CODE + 8
        ldr     r5, [r5]
        mov     pc, lr
agent_page_code_end:
