/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two processes that take turns: five times call 20, and call 2, which lets the other one run. */
#define OWN_TABLES
.macro own_tables
        gate    0x80, on_call, 3
.endm
#include "common.inc"
#include "tasks.inc"

        .text
user:   mov     $5, %ecx
again:  mov     $20, %eax
        int     $0x80
        mov     $2, %eax
        int     $0x80
        dec     %ecx
        jnz     again
        mov     $1, %eax
        int     $0x80

        .globl  on_call
on_call:
        cmp     $1, %eax
        je      finish
        cmp     $20, %eax
        je      away
        mov     current, %edx
        mov     other, %esi
        mov     %edx, other
        mov     %esi, current
away:   iret
