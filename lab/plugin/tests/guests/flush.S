/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes translations away: case 0 touches eight ordinary pages after a CR3 write, case 1 eight global ones, case 2
 * eight global ones after an invlpg of one of them; case 3 eight ordinary ones after CR0.TS has been set and cleared,
 * case 4 eight global ones after CR4.PGE has been cleared and set.
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
        mark    BEGIN, 3
        mov     $PAGES, %ebp
        mov     $3, %edi
        call    trips
        mark    END, 3
        mark    BEGIN, 4
        mov     $GLOBAL, %ebp
        mov     $4, %edi
        call    trips
        mark    END, 4
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
        cmp     $3, %edi
        je      2f
        cmp     $4, %edi
        je      3f
        mov     %cr3, %eax
        mov     %eax, %cr3
        iret
1:      invlpg  0x3000(%ebp)
        iret
2:      mov     %cr0, %eax
        or      $8, %eax
        mov     %eax, %cr0
        clts
        iret
3:      mov     %cr4, %eax
        xor     $0x80, %eax
        mov     %eax, %cr4
        xor     $0x80, %eax
        mov     %eax, %cr4
        iret
