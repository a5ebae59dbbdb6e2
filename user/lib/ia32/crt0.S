# SPDX-License-Identifier: BSD-2-Clause
# Program entry. One object per kind of program; the build names the C++ side in COBNUT_START.
# A server brings its own stack, since the kernel starts it with SP 0; a payload finds on the stack that root gave it
# the address of its command line.

        .section .text.start, "ax"
        .globl  _start
        .type   _start, @function
_start:
#ifdef COBNUT_OWN_STACK
        movl    $stack_top, %esp
        pushl   $0
#else
        movl    (%esp), %eax
        andl    $-16, %esp
        subl    $12, %esp
        pushl   %eax
#endif
        xorl    %ebp, %ebp              # end of the chain of frames
        cld
        call    COBNUT_START
1:      jmp     1b
        .size   _start, . - _start

#ifdef COBNUT_OWN_STACK
        .bss
        .balign 4096
        .skip   16384
stack_top:
#endif
        .section .note.GNU-stack, "", @progbits
