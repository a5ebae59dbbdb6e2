/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translations that change between uses: a page goes to another frame with invlpg and without, two directories map the
 * same addresses differently, and a table changes while the other directory is in force. One store straddles two pages.
 */
#define OWN_INT
#define OWN_PAGE_FAULT
#include "common.inc"

        .text
user:   mov     $13, %ebx
        mov     $PAGES, %esi
        mark    BEGIN, 0
1:      mark    ITER
        mov     (%esi), %eax
        mov     %eax, 0xffe(%esi)
        mov     0x2000(%esi), %eax
        int     $0x30
        mov     GLOBAL, %eax
        dec     %ebx
        jnz     1b
        mark    END, 0
        jmp     finish

/* Another change with each number in EBX. */
on_int: test    $1, %ebx
        jz      1f
        xorl    $0x3000, table_pages            /* frame 200 or 203 */
        invlpg  (%esi)
1:      test    $2, %ebx
        jz      1f
        xorl    $0x1000, table_pages + 8        /* frame 202 or 203, not invalidated */
        andl    $~1, other_pages                /* not in force, or unmapped under its user */
1:      test    $4, %ebx
        jz      1f
        mov     $directory, %esi                /* the other directory is a copy but for PAGES */
        mov     $other_directory, %edi
        mov     $1024, %ecx
        rep movsl
        mov     $table_pages, %esi
        mov     $other_pages, %edi
        mov     $1024, %ecx
        rep movsl
        xorl    $0x7000, other_pages + 4
        movl    $other_pages + USER_PAGE, other_directory + (PAGES >> 20)
        mov     $other_directory, %eax
        mov     %eax, %cr3
1:      test    $8, %ebx
        jz      1f
        mov     $directory, %eax
        mov     %eax, %cr3
1:      mov     $PAGES, %esi
        iret

on_page_fault:
        add     $4, %esp
        orl     $1, other_pages
        orl     $1, table_pages
        iret

        .bss
        .align  4096
other_directory:
        .skip   4096
other_pages:
        .skip   4096
