/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one word in each of N pages, twice an iteration, for N = 4, 8, ... 40: the caller recovers the size of the data
 * TLB from the misses. The case number is N / 4.
 */
#include "common.inc"

        .text
user:   mov     $1, %edi
1:      mov     $0xc0b00001, %eax
        mov     %edi, %edx
        .byte   0x66, 0x87, 0xc9
        mov     $5, %ebx
2:      mark    ITER
        call    sweep
        call    sweep
        dec     %ebx
        jnz     2b
        mov     $0xc0b00003, %eax
        mov     %edi, %edx
        .byte   0x66, 0x87, 0xc9
        inc     %edi
        cmp     $11, %edi
        jne     1b
        jmp     finish

sweep:  lea     (,%edi,4), %ecx
        mov     $PAGES, %esi
3:      mov     (%esi), %eax
        add     $4096, %esi
        loop    3b
        ret
