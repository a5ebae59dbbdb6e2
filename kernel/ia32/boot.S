// SPDX-License-Identifier: BSD-2-Clause
// From the boot loader (multiboot, or an X.2 kickstart: both give protected mode without paging) to C++ in the kernel's
// window. All page tables for the window are laid out here, for a processor may have no 4 MB pages.

#include "ia32/layout.hpp"
#include "offsets.h"

#define PHYS(x) ((x) - KERNEL_BASE)
#define MULTIBOOT_MAGIC 0x1badb002
#define MULTIBOOT_FLAGS 0x3             // modules on pages; memory information
#define PRESENT_WRITABLE 0x3
#define PRESENT_WRITABLE_USER 0x7

        .section .boot, "ax"
        .balign 4
multiboot_header:
        .long MULTIBOOT_MAGIC
        .long MULTIBOOT_FLAGS
        .long -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

        .globl boot_start
boot_start:
        cli
        cld
        mov     %eax, %ebp              // loader's magic number and information
        mov     %ebx, %edx
        mov     $PHYS(bss_start), %edi
        mov     $PHYS(bss_end), %ecx
        sub     %edi, %ecx
        xor     %eax, %eax
        rep stosb

        mov     $PHYS(boot_window_tables), %edi
        mov     $PRESENT_WRITABLE, %eax
        mov     $WINDOW_BYTES >> 12, %ecx
1:      stosl
        add     $0x1000, %eax
        loop    1b

        // The window, and temporarily the same at address 0.
        mov     $PHYS(boot_window_tables) + PRESENT_WRITABLE, %eax
        xor     %ecx, %ecx
1:      mov     %eax, PHYS(boot_directory)(, %ecx, 4)
        mov     %eax, PHYS(boot_directory) + (KERNEL_BASE >> 20)(, %ecx, 4)
        add     $0x1000, %eax
        inc     %ecx
        cmp     $WINDOW_BYTES >> 22, %ecx
        jne     1b
        movl    $PHYS(boot_fixed_table) + PRESENT_WRITABLE_USER, PHYS(boot_directory) + (FIXED_AREA >> 20)

        mov     $PHYS(boot_directory), %eax
        mov     %eax, %cr3
        mov     %cr0, %eax
        or      $0x80000000, %eax
        and     $~0x60000000, %eax      // caches on
        mov     %eax, %cr0
        mov     $processor, %esp
        push    $leave_to_user          // where boot_main returns to, in the window like itself
        mov     %ebp, %eax
        mov     $boot_main, %ecx
        jmp     *%ecx

        .section .bss.boot_tables, "aw", @nobits
        .balign 4096
        .globl boot_directory, boot_fixed_table, boot_window_tables
boot_directory:     .skip 4096
boot_fixed_table:   .skip 4096
boot_window_tables: .skip (WINDOW_BYTES >> 22) * 4096

        // The kernel's only stack; the data above it is addressed by sysenter's stack pointer.
        .section .bss.stack, "aw", @nobits
        .balign 128                     // the task segment stays in one page
kernel_stack:
        .skip   KERNEL_STACK_BYTES
        .globl  processor, ready_top
processor:
        .skip   PROCESSOR_SIZE
        .set    ready_top, processor + PROCESSOR_READY_TOP
        .balign 128
        .globl  io_bitmap
io_bitmap:
        .skip   65536 / 8 + 1
        .balign 64
