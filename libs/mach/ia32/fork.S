// SPDX-License-Identifier: BSD-2-Clause
// mach_fork(bootstrap): calls mach_create_task(ip, sp, bootstrap) with where and on which stack a copy of the caller
// goes on: here, behind that call, with 0 for the result. EBX, ESI, EDI and EBP are on the stack, which is copied.
        .text
        .globl  mach_fork
mach_fork:
        push    %ebp
        push    %ebx
        push    %esi
        push    %edi
        mov     %esp, %edx
        push    20(%esp)
        push    %edx
        push    $copy
        call    mach_create_task
        add     $12, %esp
        jmp     out
copy:   xor     %eax, %eax
out:    pop     %edi
        pop     %esi
        pop     %ebx
        pop     %ebp
        ret
        .section .note.GNU-stack, "", @progbits
