/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One mistake for each CASE, all of them invisible on QEMU. With RIGHT defined the guest does the same without the
 * mistake. `int $0x30` does at privilege 0 what the case is about; the page at (%esi) is what it is done to.
 */
#define OWN_INT
#define OWN_PAGE_FAULT
#include "common.inc"
.set TABLE_CLEARED, 1
.set FRAME_CHANGED, 2
.set MADE_READ_ONLY, 3
.set RIGHTS_ADDED, 4
.set GLOBAL_OUTLIVES, 5
.set DIRECTORY_CLEARED, 6
.set COPY_OUTLIVES, 7
.set PAST_LIMIT, 8
.set FOREIGN, 9
.set CR4_UNCHANGED, 10
.set WRONG_PAGE, 11
.set RELOADED, 12
.set FOREIGN_BY_ALIAS, 13

.set IS_FOREIGN, CASE == FOREIGN || CASE == FOREIGN_BY_ALIAS

.macro reload
        mov     %cr3, %eax
        mov     %eax, %cr3
.endm

        .text
user:   mov     $PAGES, %esi
.if CASE == GLOBAL_OUTLIVES || CASE == CR4_UNCHANGED
        mov     $GLOBAL, %esi
.endif
        mov     (%esi), %eax
        mov     $MOVED_DATA, %ecx
.if IS_FOREIGN
        mov     %ecx, %fs
.endif
        xor     %ebp, %ebp
        int     $0x30
.if IS_FOREIGN || CASE == PAST_LIMIT
#ifdef RIGHT
        mov     %ecx, %fs
        mov     %fs:0xffc, %eax
#else
.if CASE == PAST_LIMIT
        mov     %ecx, %fs
.endif
        mov     %fs:0xffd, %eax
#endif
.elseif CASE == COPY_OUTLIVES
        nop
#ifdef RIGHT
        int     $0x30                           /* copies again, and goes there itself */
#endif
        lcall   $MOVED_CODE, $moved
.elseif CASE == MADE_READ_ONLY
        mov     (%esi), %eax                    /* still allowed */
        mov     %eax, (%esi)
.elseif CASE == RIGHTS_ADDED
        mov     %eax, (%esi)
        mov     %eax, 0x1000(%esi)
.else
        mov     (%esi), %eax
.endif
        jmp     finish

moved:  jmp     finish

/* All that faults here are two-byte instructions. */
on_page_fault:
        add     $4, %esp
        addl    $2, (%esp)
        iret

on_int:
.if CASE == TABLE_CLEARED || CASE == WRONG_PAGE
        movl    $0, table_pages
.elseif CASE == FRAME_CHANGED || CASE == RELOADED
        movl    $0x300000 + USER_PAGE, table_pages
.elseif CASE == MADE_READ_ONLY
        andl    $~2, table_pages
.elseif CASE == RIGHTS_ADDED
        andl    $~3, table_pages                /* what is taken away is invalidated, */
        andl    $~1, table_pages + 4
        invlpg  (%esi)
        invlpg  0x1000(%esi)
        orl     $1, table_pages                 /* what is added is not */
        orl     $2, table_pages
        orl     $1, table_pages + 4
.elseif CASE == GLOBAL_OUTLIVES || CASE == CR4_UNCHANGED
        movl    $0x300000 + GLOBAL_PAGE, table_global
.elseif CASE == DIRECTORY_CLEARED
        movl    $0, directory + (PAGES >> 20)
.elseif CASE == COPY_OUTLIVES
        movl    $0, directory + (ALIAS >> 20)
        movl    $table_low + USER_PAGE, directory + (ALIAS >> 20)
        reload
        test    %ebp, %ebp
        jz      1f
        movl    $moved, (%esp)
        movl    $MOVED_CODE, 4(%esp)
1:      mov     $1, %ebp
.elseif CASE == PAST_LIMIT
        movl    $0x00000fff, gdt + MOVED_DATA - 3       /* byte granular, 4 KB, base ALIAS */
        movl    $0x4040f300, gdt + MOVED_DATA + 1
.elseif IS_FOREIGN
.if CASE == FOREIGN
        movl    $0x4140f300, gdt + MOVED_DATA + 1       /* base ALIAS + 16 MB */
.else
        movl    $0x4140f300, gdt + ALIAS + MOVED_DATA + 1
.endif
        movl    $0x41000000 + USER_PAGE, table_pages
        movl    $table_low + USER_PAGE, directory + (0x41000000 >> 20)
        invlpg  (%esi)
#ifdef RIGHT
        mov     %ecx, %fs
#endif
.endif

.if CASE == GLOBAL_OUTLIVES
        reload
.elseif CASE == CR4_UNCHANGED
        mov     %cr4, %eax
        mov     %eax, %cr4
.elseif CASE == WRONG_PAGE
        invlpg  0x1000(%esi)
.elseif CASE == RELOADED
        reload
.endif
#ifdef RIGHT
.if CASE == DIRECTORY_CLEARED
        reload
.elseif CASE == CR4_UNCHANGED
        mov     %cr4, %eax
        xor     $0x80, %eax
        mov     %eax, %cr4
        xor     $0x80, %eax
        mov     %eax, %cr4
.else
        invlpg  (%esi)
.endif
#endif
        iret
