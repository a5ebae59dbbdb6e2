// SPDX-License-Identifier: BSD-2-Clause
// Ways into the kernel other than sysenter, the way out, and idling. There is one kernel stack, empty whenever a user
// runs: an entry from user mode finds ESP at its top (by the task segment), leaves a TrapFrame there (trap.hpp) and
// calls trap(); the way out forgets the stack and loads the registers from the thread that runs next.

#include "ia32/layout.hpp"
#include "offsets.h"

        .text
        .macro entry vector, error=0
        .globl entry_\vector
entry_\vector:
        .if \error == 0
        push    $0
        .endif
        push    $\vector
        jmp     common
        .endm

        .altmacro
        .macro entry_number n
        .if \n != 1 && \n != 2
        .if \n == 8 || (\n >= 10 && \n <= 14) || \n == 17
        entry   \n, 1
        .else
        entry   \n, 0
        .endif
        .endif
        .endm
        .set    n, 0
        .rept   VECTOR_SYSCALLS + 8
        entry_number %n
        .set    n, n + 1
        .endr

// A debug exception in kernel mode: the user set TF, then executed sysenter, and this is its first kernel instruction
// (nothing else single-steps the kernel). DS is the user's; only SS may be used.
        .globl entry_1
entry_1:
        testb   $3, 4(%esp)
        jnz     1f
        andl    $~EFLAGS_TF, 8(%esp)
        iret
1:      push    $0
        push    $1
        jmp     common

// Boards give us no use for a non-maskable interrupt, and it may come anywhere, also while ESP is a thread.
        .globl entry_2
entry_2:
        iret

common: push    %ds
        push    %es
        pusha
        cld
        mov     $KERNEL_DATA, %eax
        mov     %eax, %ds
        mov     %eax, %es
        push    %esp
        call    trap

// Out: the next thread's registers from its control block; nobody's: wait for an interrupt.
        .globl leave_to_user
leave_to_user:
        mov     $processor, %esp
        call    leave_kernel
        test    %eax, %eax
        jz      idle
        lea     THREAD_REGISTERS(%eax), %esp
        mov     $USER_DATA, %eax
        mov     %eax, %ds
        mov     %eax, %es
        mov     %eax, %fs
        mov     $USER_UTCB, %eax
        mov     %eax, %gs
        popa
        iret

idle:   sti
        hlt
        jmp     idle

// A double fault or its like: the state that led here is in the main task segment; on a stack of its own.
        .globl double_fault
double_fault:
        call    double_fault_panic
