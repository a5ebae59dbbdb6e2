// SPDX-License-Identifier: BSD-2-Clause
// The common IPC: a call, or a reply followed by an open receive, of up to four untyped words, to a partner that waits
// for it, without a receive timeout, with no sender queued, no redirector, and no higher priority ready. All other
// cases go to `slow`, before anything has been changed.
//
// On entry, in abort mode: R0 to, R1 from, R2 timeouts, R3 to R7 MR0 to MR4; SP `processor`; LR 4 past the address that
// was jumped to. R8 to R10, R12 and the user's LR, which is the return address, need not be kept. On the way: R10 the
// current thread, R12 its partner, LR where that goes on. Both sides' message registers are R3 to R7. On exit: R0 from,
// R3 to R7 as they are. No kernel address leaves the kernel: R8 is 0, R9 and R10 say where the UTCB is.

#include "arm/layout.hpp"
#include "offsets.h"

        .section .text.fastpath, "ax"
        .globl  vector_prefetch
vector_prefetch:
        cmn     lr, #-(SYSTEM_CALLS + 4)        // Ipc is call 0
        bne     vector_abort
        ldr     r10, [sp, #PROCESSOR_CURRENT]
        add     r9, r10, #THREAD_R11
        stmia   r9, {r11-r14}^                  // where leave_fast_frame() and `leave` find them
by_number:
        mov     r8, #THREAD_TABLE               // the partner by number; nobody() for unused numbers
        mov     r9, r0, lsr #14
        ldr     r12, [r8, r9, lsl #2]
        ldr     r8, [r10, #THREAD_FAST_VETO]
        ldr     r9, [r12, #THREAD_ID]
        ldr     lr, [r12, #THREAD_LR]
        orrs    r8, r8, r2, lsl #16             // a receive timeout needs the timeout queue
        cmpeq   r9, r0
        tsteq   lr, #3                          // back to Thumb code
        bne     other_id
        cmp     r1, r0                          // call
        cmnne   r1, #1                          // or reply and open receive
        bne     slow
        ldr     r8, [r12, #THREAD_STATE]
        ldr     r0, [r10, #THREAD_ID]
        cmp     r8, r0
        cmnne   r8, #1
        bne     slow_known
        ldr     r8, [r12, #THREAD_PRIORITY]     // the partner runs now only if no higher priority is ready
        ldr     r9, [sp, #PROCESSOR_READY_TOP]
        cmp     r8, r9
        mov     r8, #4 << 16
        cmphs   r8, r3, lsl #16                 // more words, typed items or flags
        blo     slow_known

        ldr     r8, [r10, #THREAD_SPACE]
        ldr     r9, [r12, #THREAD_SPACE]
        cmp     r8, r9
        beq     same_space
        ldmia   r9, {r8, r9}                    // its domain access and process id
        cmp     r8, #0
        beq     not_resident
        mcr     p15, 0, r8, c3, c0, 0
        mcr     p15, 0, r9, c13, c0, 0
        ldr     r9, [sp, #PROCESSOR_RAN]
        orr     r9, r9, r8
        str     r9, [sp, #PROCESSOR_RAN]
leave:
        str     r1, [r10, #THREAD_STATE]        // open to the awaited sender
        mov     r8, #STATE_READY
        str     r8, [r12, #THREAD_STATE]
        str     r12, [sp, #PROCESSOR_CURRENT]
        ldr     r10, [r12, #THREAD_UTCB_ADDRESS]
        mov     r9, #UTCB_WORD_PAGE
        msr     spsr_cf, #(MODE_USER | MASK_FIQ)    // the sender's flags and state are not its partner's
        add     r12, r12, #THREAD_R11
        ldmia   r12, {r11-r14}^
        str     r10, [r9]                       // user registers may not be named next
        movs    pc, lr

same_space:
        ldr     r0, [r10, #THREAD_UTCB_ADDRESS] // threads of one space know each other by local ids
        b       leave

not_resident:
        stmfd   sp!, {r0-r3, r8, r10, r12, lr}  // an even number: the stack stays aligned to 8 bytes
        ldr     r1, [r10, #THREAD_SPACE]
        ldr     r0, [r12, #THREAD_SPACE]
        ldr     r1, [r1, #SPACE_DOMAIN]
        bl      enter_host
        ldmfd   sp!, {r0-r3, r8, r10, r12, lr}
        b       leave

// A program that has written another id there sends to that thread.
other_id:
        ldr     r8, [r10, #THREAD_UTCB_ADDRESS]
        eor     r8, r8, r0
        bics    r8, r8, #UTCB_NUMBER
        bne     slow
        ldr     r9, [r0, #-UTCB_MY_GLOBAL_ID]
        tst     r9, #ID_VERSION                 // no local id, which would lead here again
        beq     slow
        cmp     r1, r0
        moveq   r1, r9
        mov     r0, r9
        b       by_number

slow_known:
        ldr     r0, [r12, #THREAD_ID]
// What the kernel has had in registers goes no further. LR is what it was for this call.
slow:
        mov     r8, #0
        mov     r9, #0
        mov     r10, #0
        mov     r12, #0
        mvn     lr, #~(SYSTEM_CALLS + 4)
        b       vector_abort
        .ltorg
