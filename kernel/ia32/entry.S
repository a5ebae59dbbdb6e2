// SPDX-License-Identifier: BSD-2-Clause
// Ways into the kernel other than sysenter and the fast path's gate, the way out, and idling. An entry from user mode
// finds ESP at the top of the running thread's frame (by the task segment): the processor and the pushes below save the
// registers where they belong, in the thread. Then the kernel's only stack is taken, which is empty whenever a user
// runs; the way out forgets it and loads the registers from the thread that runs next.

#include "ia32/layout.hpp"
#include "offsets.h"
#include "ia32/switch.inc"

// Each entry leaves EAX and ECX saved, the error code in EAX and the vector in ECX.
        .text
        .macro entry vector, error=0
        .globl entry_\vector
entry_\vector:
        .if \error == 0
        push    %eax
        xor     %eax, %eax
        .else
        xchg    %eax, (%esp)
        .endif
        push    %ecx
        mov     $\vector, %ecx
        jmp     common
        .endm

        .altmacro
        .macro entry_number n
        .if \n != 1 && \n != 2 && \n != 13
        .if \n == 8 || (\n >= 10 && \n <= 14) || \n == 17
        entry   \n, 1
        .else
        entry   \n, 0
        .endif
        .endif
        .endm
        .set    n, 0
        .rept   VECTOR_SYSCALLS + SYSCALLS
        entry_number %n
        .set    n, n + 1
        .endr

        .macro  entry_address n
        .long   entry_\n
        .endm
        .set    entry_13, reflect       // protection faults (ia32/reflection.S)
        .section .rodata
        .balign 4
        .globl  entries
entries:
        .set    n, 0
        .rept   VECTOR_SYSCALLS + SYSCALLS
        entry_address %n
        .set    n, n + 1
        .endr
        .text

// A debug exception in kernel mode: the user set TF, then executed sysenter, and this is its first kernel instruction;
// or a breakpoint was met by a load of SS, which puts it off until behind the `int` that followed. Nothing else brings
// one into the kernel. DS is the user's, and so are all general registers; only SS may be used. On without TF and NT,
// and without a status that the next one's thread would find.
        .globl entry_1
entry_1:
        testb   $EFLAGS_VM >> 16, 10(%esp)
        jnz     1f
        cmpw    $KERNEL_CODE, 4(%esp)
        jne     1f
        push    %eax
        mov     $DEBUG_STATUS_ONES, %eax
        mov     %eax, %dr6
        pop     %eax
        // the flags stand where the task segment has its back link, which NT would follow
        movl    $0, 8(%esp)
        ret     $8
1:      push    %eax
        xor     %eax, %eax
        push    %ecx
        mov     $1, %ecx
        jmp     common

// Boards give us no use for a non-maskable interrupt, and it may come anywhere, also while ESP is in a thread.
        .globl entry_2
entry_2:
        iret

// The rest of the registers, then the kernel's own data segments and stack.
common: save_rest
        .globl  common_saved
common_saved:
        mov     %esp, %ebx
        mov     %ds, %esi
        mov     %es, %edi
        mov     $KERNEL_DATA, %edx
        mov     %edx, %ds
        mov     %edx, %es
        testb   $EFLAGS_VM >> 16, KERNEL_FRAME_EFLAGS + 2(%ebx)
        jnz     from_virtual_8086
        cmpw    $KERNEL_CODE, KERNEL_FRAME_CS(%ebx)    # not by privilege: QEMU lets users move a null selector into CS
        je      from_kernel
        mov     $processor, %esp
        push    %edi
        push    %esi
        mov     %ecx, %edx
        mov     %eax, %ecx
        lea     -(THREAD_TOP + THREAD_REGISTERS)(%ebx), %eax
        call    trap
        test    %eax, %eax
        jnz     turn_to_pager

// The way out: loads the next thread's registers from its control block; without one, waits for an interrupt.
        .globl leave_to_user
leave_to_user:
        mov     $processor, %esp
        call    leave_kernel
        test    %eax, %eax
        jz      idle
        lea     THREAD_TOP + THREAD_REGISTERS(%eax), %esp
        mov     $USER_DATA, %eax
        mov     %eax, %ds
        mov     %eax, %es
        mov     %ss:processor + PROCESSOR_FS, %fs
        mov     %ss:processor + PROCESSOR_GS, %gs
        popa
        iret

// No user gets there on a processor. On QEMU an iret of its own is enough, whatever its privilege. Four more words have
// been saved than there is room for in the frame: the thread loses its state for that.
        .globl  from_virtual_8086
from_virtual_8086:
        mov     $processor, %esp
        mov     %ecx, %edx
        lea     -(THREAD_TOP + THREAD_REGISTERS - 16)(%ebx), %eax
        call    virtual_8086_trap
        jmp     leave_to_user

from_kernel:
        mov     %esp, %edx
        sub     $processor - KERNEL_STACK_BYTES, %edx
        cmp     $KERNEL_STACK_BYTES, %edx
        jb      1f
        mov     $processor, %esp        // the fast path's iret had a thread's frame for a stack
1:      mov     %ecx, %edx
        mov     %eax, %ecx
        mov     %ebx, %eax
        call    kernel_trap
        jmp     leave_to_user

idle:   sti
        hlt
        jmp     idle

// A double fault or its like: the state that led here is in the main task segment; on a stack of its own.
        .globl double_fault
double_fault:
        call    double_fault_panic
