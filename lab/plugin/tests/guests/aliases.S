/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same frame is executed at three linear addresses: where it is linked, through a page alias, and through a code
 * segment with a base. Case 0 uses the first only, case 1 the first and the page alias, case 2 the first and the
 * segment alias. Case 3 reads one word through a flat segment and through one with a base.
 */
#include "common.inc"

        .text
user:   mov     $page_linked, %esi
        mark    BEGIN, 0
        call    loop
        mark    END, 0
        mov     $page_linked + ALIAS, %esi
        mark    BEGIN, 1
        call    loop
        mark    END, 1
        mark    BEGIN, 2
        mov     $5, %ebx
1:      mark    ITER
        call    page_linked
        lcall   $MOVED_CODE, $far_linked
        dec     %ebx
        jnz     1b
        mark    END, 2
        mark    BEGIN, 3
        mov     $MOVED_DATA, %eax
        mov     %eax, %fs
        mov     $5, %ebx
1:      mark    ITER
        mov     directory, %eax
        mov     %fs:directory, %eax
        dec     %ebx
        jnz     1b
        mark    END, 3
        jmp     finish

loop:   mov     $5, %ebx
1:      mark    ITER
        call    page_linked
        call    *%esi
        dec     %ebx
        jnz     1b
        ret

        .section .aligned, "ax"
page_linked:
        nop
        ret
far_linked:
        nop
        lret
