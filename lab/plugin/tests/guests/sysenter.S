/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ten round trips through sysenter, a CR3 write, segment loads, sysexit and a trampoline, then ten by int. */
#define OWN_SYSENTER
#define OWN_INT
#include "common.inc"

        .text
user:   mov     $11, %ebx
        mark    BEGIN, 7
1:      mark    ITER
        push    %cs
        push    $2f
        jmp     kip
2:      dec     %ebx
        jnz     1b
        mark    END, 7

        mov     $11, %ebx
        mark    BEGIN, 8
1:      mark    ITER
asks:   int     $0x30
        ud2
asked:  dec     %ebx
        jnz     1b
        mark    END, 8
        jmp     finish

on_sysenter:
        mov     %cr3, %eax
        mov     %eax, %cr3
segments:
        mov     $USER_DATA, %eax
        mov     %eax, %fs
        mov     %eax, %gs
        push    %eax
        pop     %es
leaves: mov     $trampoline, %edx
        sysexit

on_int: iret

        .section .kip, "ax"
        .globl  kip
kip:    mov     %esp, %ecx
        sysenter

        .section .trampoline, "ax"
        .globl  trampoline
trampoline:
        nop
        lret
