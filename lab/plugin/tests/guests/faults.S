/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Case 0: a page fault in the middle of a block; the kernel maps the page and unmaps it again by int. Case 1: repeated
 * string moves count once. Case 2: timer interrupts arrive in a long loop.
 */
#define OWN_INT
#define OWN_PAGE_FAULT
#define OWN_TIMER
#include "common.inc"

        .text
user:   mark    BEGIN, 0
        mov     $5, %ebx
        mov     $PAGES, %esi
1:      mark    ITER
        nop
        nop
        mov     (%esi), %eax
        nop
        int     $0x30
        dec     %ebx
        jnz     1b
        mark    END, 0

        mark    BEGIN, 1
        mov     $5, %ebx
1:      mark    ITER
        mov     $PAGES + 0x1000, %esi
        mov     $PAGES + 0x2000, %edi
        mov     $256, %ecx
        rep movsl
        dec     %ebx
        jnz     1b
        mark    END, 1

        mov     $0x34, %al                      /* timer channel 0, rate: 1193 counts = 1 ms */
        out     %al, $0x43
        mov     $0xa9, %al
        out     %al, $0x40
        mov     $0x04, %al
        out     %al, $0x40
        mov     $0x11, %al                      /* interrupt controllers: vectors from 0x20, only the timer */
        out     %al, $0x20
        mov     $0x20, %al
        out     %al, $0x21
        mov     $4, %al
        out     %al, $0x21
        mov     $1, %al
        out     %al, $0x21
        mov     $0xfe, %al
        out     %al, $0x21
        sti
        mark    BEGIN, 2
        mov     $3, %ebx
1:      mark    ITER
        mov     $1000000, %ecx
2:      nop
        nop
        dec     %ecx
        jnz     2b
        dec     %ebx
        jnz     1b
        mark    END, 2
        cli
        jmp     finish

        page_comes_and_goes

on_timer:
        push    %eax
        mov     $0x20, %al
        out     %al, $0x20
        pop     %eax
        iret
