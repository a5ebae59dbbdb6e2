/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Case 0: eleven turns on both sides of a thread's own segment. Case 1: past the end of an ordinary one. */
#include "common.inc"

        .text
user:   mov     $OWN_DATA, %eax
        mov     %eax, %gs
        mov     $11, %ebx
        mark    BEGIN, 0
1:      mark    ITER
        mov     %gs:0, %ecx             /* as its descriptor says */
        mov     %gs:4, %ecx
        mov     %gs:-4, %ecx            /* turned */
        movl    $0, %gs:-8
        mov     %gs:0, %ecx             /* and back */
        dec     %ebx
        jnz     1b
        mark    END, 0

        mov     $11, %ebx
        mark    BEGIN, 1
1:      mark    ITER
        mov     $SHORT_DATA, %eax
        mov     %eax, %fs
        mov     %fs:0xffc, %ecx
        mov     %fs:0xffd, %ecx         /* its last byte is past the limit */
        mov     $USER_DATA, %eax
        mov     %eax, %fs
        mov     %fs:0x1000, %ecx
        dec     %ebx
        jnz     1b
        mark    END, 1
        jmp     finish

        .section .kip, "ax"
        .globl  kip
kip:    nop

        .section .trampoline, "ax"
        .globl  trampoline
trampoline:
        nop
