@ SPDX-License-Identifier: BSD-2-Clause
@ Program entry. One object per kind of program; the build names the C++ side in COBNUT_START.
@ A server brings its own stack, since the kernel starts it with SP 0; a payload finds on the stack that root gave it
@ the address of its command line.

        .section .text.start, "ax"
        .globl  _start
        .type   _start, %function
_start:
#ifdef COBNUT_OWN_STACK
        ldr     sp, =stack_top
#else
        ldr     r0, [sp]
        bic     sp, sp, #7
#endif
        mov     fp, #0                  @ end of the chain of frames
        bl      COBNUT_START
1:      b       1b
        .ltorg
        .size   _start, . - _start

#ifdef COBNUT_OWN_STACK
        .bss
        .balign 4096
        .skip   16384
stack_top:
#endif
