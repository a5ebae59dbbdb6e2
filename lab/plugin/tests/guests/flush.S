/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a CR3 write takes away: case 0 touches eight ordinary pages after it, case 1 eight global ones, case 2 eight
 * global ones after an invlpg of one of them.
 */
#define OWN_INT
#include "common.inc"

        .text
user:   mark    BEGIN, 0
        mov     $PAGES, %ebp
        mov     $1, %edi
        call    trips
        mark    END, 0
        mark    BEGIN, 1
        mov     $GLOBAL, %ebp
        mov     $1, %edi
        call    trips
        mark    END, 1
        mark    BEGIN, 2
        mov     $2, %edi
        call    trips
        mark    END, 2
        jmp     finish

trips:  mov     $6, %ebx
1:      mark    ITER
        int     $0x30
        mov     $8, %ecx
        mov     %ebp, %esi
2:      mov     (%esi), %eax
        add     $4096, %esi
        loop    2b
        dec     %ebx
        jnz     1b
        ret

on_int: cmp     $2, %edi
        je      1f
        mov     %cr3, %eax
        mov     %eax, %cr3
        iret
1:      invlpg  0x3000(%ebp)
        iret
