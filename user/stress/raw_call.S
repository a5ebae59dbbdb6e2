# SPDX-License-Identifier: BSD-2-Clause
# void stress_raw_call(entry, registers *): calls a stub of the kernel interface page with these registers, in the order
# EAX ECX EDX ESI EDI EBX EBP, and stores them back. Touches no memory but the stack and *registers. cdecl.

        .text
        .globl  stress_raw_call
        .type   stress_raw_call, @function
stress_raw_call:
        pushl   %ebp
        pushl   %ebx
        pushl   %esi
        pushl   %edi                    # entry at 20(%esp), registers at 24(%esp)
        movl    24(%esp), %ebp
        movl    0(%ebp), %eax
        movl    4(%ebp), %ecx
        movl    8(%ebp), %edx
        movl    12(%ebp), %esi
        movl    16(%ebp), %edi
        movl    20(%ebp), %ebx
        movl    24(%ebp), %ebp
        call    *20(%esp)
        cld
        pushl   %ebp                    # registers at 28(%esp)
        movl    28(%esp), %ebp
        movl    %eax, 0(%ebp)
        movl    %ecx, 4(%ebp)
        movl    %edx, 8(%ebp)
        movl    %esi, 12(%ebp)
        movl    %edi, 16(%ebp)
        movl    %ebx, 20(%ebp)
        popl    24(%ebp)
        popl    %edi
        popl    %esi
        popl    %ebx
        popl    %ebp
        ret
        .size   stress_raw_call, . - stress_raw_call
        .section .note.GNU-stack, "", @progbits
