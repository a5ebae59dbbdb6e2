/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loop whose first instruction faults and begins again: the kernel maps the page, and unmaps it by int. */
#define OWN_INT
#define OWN_PAGE_FAULT
#include "common.inc"

        .text
user:   mov     $5, %ebx
        mov     $PAGES, %esi
again:  mov     (%esi), %eax
        nop
        int     $0x30
        dec     %ebx
        jnz     again
finished:
        jmp     finish

        page_comes_and_goes
