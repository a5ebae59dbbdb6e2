@ SPDX-License-Identifier: BSD-2-Clause
@ What attackers and victims run, position-independent, in one page. An attempt is ATTEMPT NAME, a few instructions, and
@ END: it starts with its target in SP and ends with a software interrupt, whose message shows R0 to R7 to the
@ controller. Foreign memory and the attacker's own are full of software interrupts with other numbers (stage.h).

        .set    UTCB_WORD, 0xff000000
        .set    KIP_IPC, 0xe0
        .set    SYSTEM_CALLS, 0xffffff00

        .text
        .balign 4096
        .globl  attack_page
attack_page:

@ A thread's exceptions go to its pager. Keeps R0 to R10.
        .macro  hand_over
        mov     r12, #UTCB_WORD
        ldr     r12, [r12]
        ldr     r11, [r12, #-48]
        str     r11, [r12, #-44]
        .endm

        .macro  attempt name
        .globl  attempt_\name
attempt_\name:
        hand_over
        .endm

        .macro  end
        swi     #0x5a0000
        .endm

        .macro  try name, code:vararg
        attempt \name
        mov     r1, #0x5a
        mov     r2, #0x5a
        \code
        end
        .endm

@ R11 = the Ipc stub.
        .macro  find_ipc
        mov     lr, pc
        mvn     pc, #(0xff - 0xb4)
        ldr     r11, [r0, #KIP_IPC]
        add     r11, r11, r0
        .endm

        .macro  call_kernel number
        mov     lr, pc
        mvn     pc, #(0xff - \number)
        .endm

@ A victim: answers each message with the sum of the page at SP in MR1.
        .globl  attack_victim
attack_victim:
        hand_over
        find_ipc
        mov     r0, #0
1:      mvn     r1, #0
        mov     r2, #0
        mov     r3, #1
        mov     lr, pc
        mov     pc, r11
        mov     r4, #0
        mov     r2, sp
        mov     r1, #1024
2:      ldr     r3, [r2], #4
        add     r4, r4, r3
        subs    r1, r1, #1
        bne     2b
        b       1b

@ Looks at the word at SP as long as it is MR2, MR1 times at most, both of the answer to its call. Ends with what it saw
@ last in R0.
        .globl  attack_watcher
attack_watcher:
        hand_over
        find_ipc
        mov     r12, #UTCB_WORD
        ldr     r12, [r12]
        ldr     r0, [r12, #-48]
        mov     r1, r0
        mov     r2, #0
        mov     r3, #0
        mov     lr, pc
        mov     pc, r11
1:      ldr     r0, [sp]
        cmp     r0, r5
        bne     2f
        subs    r4, r4, #1
        bne     1b
2:      end

@ At each message writes MR1 to the word at SP, if it is not 0, and answers with what it reads there in MR1.
        .globl  attack_writer
attack_writer:
        hand_over
        find_ipc
        mov     r0, #0
        mvn     r1, #0
        b       2f
1:      cmp     r4, #0
        strne   r4, [sp]
        ldr     r4, [sp]
        mvn     r1, #0
2:      mov     r2, #0
        mov     r3, #1
        mov     lr, pc
        mov     pc, r11
        b       1b

@ Waits for a message; ends with the flags that it woke up with in R0.
        .globl  attack_flags_reader
attack_flags_reader:
        hand_over
        find_ipc
        mov     r0, #0
        mvn     r1, #0
        mov     r2, #0
        mov     r3, #0
        msr     cpsr_f, #0
        mov     lr, pc
        mov     pc, r11
        mrs     r0, cpsr
        end

@ Calls the thread whose id is in SP with all flags set that a user has.
        .globl  attack_flags_caller
attack_flags_caller:
        hand_over
        find_ipc
        mov     r0, sp
        mov     r1, sp
        mov     r2, #0
        mov     r3, #0
        msr     cpsr_f, #0xf8000000
        mov     lr, pc
        mov     pc, r11
        end

@ Runs on from the last word of a page.
        .globl  attack_runner
attack_runner:
        hand_over
        mov     r0, #0x5a
        sub     pc, sp, #4

@ Accesses to the target.
        try     load, ldr r0, [sp]
        try     load_byte, ldrb r0, [sp]
        try     load_half, ldrh r0, [sp]
        try     load_signed, ldrsb r0, [sp]
        try     load_multiple, ldmia sp, {r0, r3}
        try     load_translated, ldrt r0, [sp], #0
        try     swap, swp r0, r1, [sp]
        try     swap_byte, swpb r0, r1, [sp]
        try     store, str r1, [sp]
        try     store_byte, strb r1, [sp]
        try     store_half, strh r1, [sp]
        try     store_multiple, stmia sp, {r1, r2}
        try     store_translated, strt r1, [sp], #0
        try     jump, mov pc, sp
        try     load_pc_behind, ldmia sp, {r0, pc}
        try     load_double, .inst 0xe1cd20d0           @ ldrd r2, [sp]: ARMv5TE
        try     store_double, .inst 0xe1cd20f0          @ strd r2, [sp]
        try     load_user_registers, ldmia sp, {r0, r3}^
        try     store_user_registers, stmia sp, {r1, r2}^
        try     load_below, ldr r0, [sp, #-4]
        try     store_below, str r1, [sp, #-4]
        try     load_above, ldr r0, [sp, #4]
        try     load_unaligned, ldr r0, [sp, #-2]
        try     store_unaligned, str r1, [sp, #-2]
        try     swap_unaligned, swp r0, r1, [sp]        @ SP is not aligned
        try     store_across, stmdb sp, {r1, r2}

@ The same by Thumb code: R0 or R1 from SP.
        .macro  thumb name, code
        attempt \name
        add     r0, pc, #1
        .inst   0xe12fff10                              @ bx r0
        .short  \code
        .short  0xdf5a                                  @ swi #0x5a
        .endm
        thumb   thumb_load, 0x9800
        thumb   thumb_store, 0x9100
        thumb   thumb_push, 0xb402
        thumb   thumb_pop_pc, 0xbd01

@ What only the kernel may do.
        .macro  coprocessor name, code:vararg
        try     \name, \code
        .endm
        coprocessor read_control, mrc p15, 0, r0, c1, c0, 0
        coprocessor write_control, mcr p15, 0, r1, c1, c0, 0
        coprocessor read_id, mrc p15, 0, r0, c0, c0, 0
        coprocessor read_table_base, mrc p15, 0, r0, c2, c0, 0
        coprocessor write_table_base, mcr p15, 0, r1, c2, c0, 0
        coprocessor read_domains, mrc p15, 0, r0, c3, c0, 0
        attempt open_all_domains
        mvn     r0, #0
        mcr     p15, 0, r0, c3, c0, 0
        end
        coprocessor read_fault_status, mrc p15, 0, r0, c5, c0, 0
        coprocessor write_fault_address, mcr p15, 0, r1, c6, c0, 0
        coprocessor invalidate_caches, mcr p15, 0, r1, c7, c7, 0
        coprocessor invalidate_data, mcr p15, 0, r1, c7, c6, 0
        coprocessor invalidate_data_line, mcr p15, 0, r1, c7, c6, 1
        coprocessor clean_data_line, mcr p15, 0, r1, c7, c10, 1
        coprocessor invalidate_code, mcr p15, 0, r1, c7, c5, 0
        coprocessor flush_tlbs, mcr p15, 0, r1, c8, c7, 0
        coprocessor flush_data_tlb_entry, mcr p15, 0, r1, c8, c6, 1
        coprocessor lock_tlb, mcr p15, 0, r1, c10, c0, 0
        coprocessor read_pid, mrc p15, 0, r0, c13, c0, 0
        attempt forge_pid
        mov     r0, #0x02000000
        mcr     p15, 0, r0, c13, c0, 0
        end
        coprocessor test_registers, mcr p15, 0, r1, c15, c0, 0
        coprocessor clock_switching, mcr p15, 0, r1, c15, c1, 2
        coprocessor floating_point, .inst 0xee100110
        coprocessor undefined, .inst 0xe7f000f0
        coprocessor undefined_always, .inst 0xf7f000f0
        coprocessor debug_id, mrc p14, 0, r0, c0, c0, 0
        coprocessor java_id, mrc p14, 7, r0, c0, c0, 0
        coprocessor java_control, mcr p14, 7, r1, c1, c0, 0
        coprocessor java_configuration, mcr p14, 7, r1, c2, c0, 0
        coprocessor system_operation, cdp p15, 0, c0, c0, c0, 0
        coprocessor system_load, ldc p15, c3, [sp]
        coprocessor system_store, stc p15, c3, [sp]
        coprocessor system_two_registers, .inst 0xec410f05
        coprocessor lock_down, mcr p15, 0, r1, c9, c0, 0
        coprocessor write_fault_status, mcr p15, 0, r1, c5, c0, 0
        coprocessor clean_all, .inst 0xee17ff7e         @ mrc p15, 0, r15, c7, c14, 3
        coprocessor invalidate_data_way, mcr p15, 0, r1, c7, c14, 2
        coprocessor drain, mcr p15, 0, r1, c7, c10, 4
        coprocessor wait, mcr p15, 0, r1, c7, c0, 4
        coprocessor breakpoint, .inst 0xe1200070
        coprocessor semihosting, .inst 0xef123456
        attempt odd_software_interrupt
        swi     #0xffffff

@ The mode: R0 = CPSR afterwards.
        .macro  mode name, code:vararg
        attempt \name
        \code
        mrs     r0, cpsr
        end
        .endm
        mode    mode_supervisor, msr cpsr_c, #0xd3
        mode    mode_abort, msr cpsr_c, #0x17
        mode    mode_system, msr cpsr_c, #0x1f
        mode    masks, msr cpsr_c, #0xd0
        mode    all_fields, msr cpsr_cxsf, #0xdf
        mode    saved_status, msr spsr_cxsf, #0xd3
        mode    java_bit, msr cpsr_fsxc, #0x01000000
        attempt java_state              @ BXJ: back to ARM code, as there is no Java state
        mov     r0, #0
        add     r1, pc, #0
        .inst   0xe12fff21
        mrs     r0, cpsr
        end
        attempt return_with_status
        mov     r1, #0xd3
        msr     spsr_cxsf, r1
        add     lr, pc, #0
        movs    pc, lr
        mrs     r0, cpsr
        end
        attempt load_with_status
        mov     r0, #0xd3
        msr     spsr_cxsf, r0
        add     r1, pc, #8
        mov     r0, sp
        str     r1, [r0]
        ldmia   r0, {pc}^
        mrs     r0, cpsr
        end

@ Into the kernel beside its entries.
        attempt call_nothing
        call_kernel 0x30
        end
        attempt call_behind
        call_kernel 0x2c
        end
        attempt call_last
        mov     lr, pc
        mvn     pc, #3
        end
        attempt jump_to_vector
        mov     r1, #0xff000000
        orr     pc, r1, #0x00ff0000
        end
        attempt jump_to_kernel
        mov     r1, #0xff000000
        orr     pc, r1, #0x00f00000
        end

@ The kernel as a deputy.
        attempt unmap_target            @ a page at SP, here too
        mov     r4, sp
        mov     r4, r4, lsr #10
        mov     r3, r4, lsl #10
        orr     r3, r3, #0xc7
        mov     r0, #0x40
        call_kernel 0x14
        mov     r0, #0
        end
        attempt end_emulator
        mov     r0, #0
        call_kernel 0x74
        end
        attempt control_space           @ of the thread whose id is in SP
        mov     r0, sp
        mov     r1, #0x80000000
        orr     r1, r1, #1
        mov     r2, #0
        mov     r3, #0
        mov     r4, #0
        call_kernel 0x18
        end
        attempt control_thread
        mov     r0, sp
        mov     r1, #0
        mov     r2, #0
        mov     r3, #0
        mvn     r4, #0
        call_kernel 0x08
        end
        attempt exchange_registers
        mov     r0, sp
        mov     r1, #0x0f8
        mov     r2, #0
        mov     r3, #0
        mvn     r4, #0
        mov     r5, #0
        mov     r6, #0
        call_kernel 0x0c
        end
        attempt own_flags               @ of its own: all on; R0 = CPSR afterwards
        mov     r12, #UTCB_WORD
        ldr     r12, [r12]
        ldr     r0, [r12, #-60]
        mov     r1, #0x28
        mov     r2, #0
        mov     r3, #0
        mvn     r4, #0x20
        call_kernel 0x0c
        mrs     r0, cpsr
        end
        attempt own_state               @ likewise, with the bits of Thumb and Java state
        mov     r12, #UTCB_WORD
        ldr     r12, [r12]
        ldr     r0, [r12, #-60]
        mov     r1, #0x28
        mov     r2, #0
        mov     r3, #0
        mvn     r4, #0
        call_kernel 0x0c
        mrs     r0, cpsr
        end
        attempt utcb_across             @ the last word of its UTCB's page and the first behind it
        mov     r12, #UTCB_WORD
        ldr     r12, [r12]
        mov     r1, r12, lsr #12
        mov     r1, r1, lsl #12
        add     r1, r1, #4096
        sub     r1, r1, #4
        ldmia   r1, {r0, r3}
        end
        attempt print_target            @ by the kernel; R0 = 0
        mov     r0, sp
        call_kernel 0x64
        mov     r0, #0
        end
        attempt write_utcb_word
        mov     r1, #UTCB_WORD
        str     r1, [r1]
        end
        attempt load_across             @ the last word of its page and the first behind it, at SP
        sub     r1, sp, #4
        ldmia   r1, {r0, r3}
        end
        .globl  attack_page_end
attack_page_end:
