// SPDX-License-Identifier: BSD-2-Clause
// The kernel interface page as it stands in the image, where a boot loader looks for it (sheet 2, 6.8), with the code
// that user programs call. Entry points of processors with and without sysenter stand side by side; the boot writes
// the offsets of the ones that fit into the page (ia32/boot.cpp).

#include "ia32/layout.hpp"

#define DESCRIPTORS 0x180
#define DESCRIPTORS_ROOM (0x480 / 8)

        .section .kip, "awx", @progbits
        .balign 4096
        .globl kip
kip:    .byte 'L', '4', 0xe6, 'K'
        .long 0x84050000                // X.2, revision 5
        .long 0                         // little endian, 32 bits
        .long kernel_description - kip
        .fill 4, 4, 0                   // no kernel debugger to load
        .fill 12, 4, 0                  // sigma0, sigma1, root server: the boot loader's
        .long 0
        .long DESCRIPTORS << 16 | DESCRIPTORS_ROOM      // the loader writes how many it filled in
        .org kip + 0xa8
        .long 12 << 16 | 9 << 10 | 1    // UTCB area 4 KB or more, UTCBs aligned to 512 bytes, 512 bytes each
        .long 12                        // interface page area
        .org kip + 0xbc
        .long 0x120                     // processor descriptors
        .org kip + 0xc4
        .long 48 << 20 | 16 << 8 | 18   // thread numbers: 48 the first user, 16 interrupts, 18 bits
        .long 0x1000 | 2                // 4 KB pages; only writing can be denied by itself
        .long 4 << 28                   // one processor; descriptors of 16 bytes
        .org kip + DESCRIPTORS

        .org kip + 0x600
kernel_description:
        .byte 0, 0, 1, 0x80             // experimental kernel id 0x80, subid 1
        .long KERNEL_DATE
        .long 0                         // version 0.0.0
        .ascii "CBNT"
        .asciz "Cobnut: L4 X.2 with tagged spaces on untagged TLBs"
        .asciz "smallspaces"
        .asciz "ioflexpages"
        .asciz "tlscontrol"            // sheet 14.1
        .byte 0

        .org kip + 0x800
// The return address moves under the user code selector: the pair is what lret takes, on the way back from sysexit and
// for a thread that is resumed by iret (to the lret below, see trap.cpp). EBP and EBX carry nothing into an IPC.
        .globl stub_ipc_sysenter, stub_ipc_return
stub_ipc_sysenter:
        pop     %ebx
        push    $USER_CODE
        push    %ebx
        mov     %esp, %ebp
        sysenter
stub_ipc_return:
        lret

        .globl stub_ipc_int
stub_ipc_int:
        int     $VECTOR_IPC
        ret

        .macro stub name, vector
        .globl stub_\name
stub_\name:
        int     $\vector
        ret
        .endm
        stub thread_switch, VECTOR_SYSCALLS + 0
        stub schedule, VECTOR_SYSCALLS + 1
        stub unmap, VECTOR_SYSCALLS + 2
        stub exchange_registers, VECTOR_SYSCALLS + 3
        stub thread_control, VECTOR_SYSCALLS + 4
        stub space_control, VECTOR_SYSCALLS + 5
        stub processor_control, VECTOR_SYSCALLS + 6
        stub memory_control, VECTOR_SYSCALLS + 7
        stub tls_control, VECTOR_SYSCALLS + 8

// SystemClock never enters the kernel. With a time-stamp counter: ticks since the boot times microseconds per tick, a
// 0.32-bit fraction; the 96-bit product is cut to 64 bits. EBX and EBP are preserved (sheet 4.0).
        .globl stub_clock_tsc, clock_tsc_base, clock_tsc_scale
stub_clock_tsc:
        call    1f
1:      pop     %ecx
        rdtsc
        sub     clock_tsc_base - 1b(%ecx), %eax
        sbb     clock_tsc_base + 4 - 1b(%ecx), %edx
        mov     %edx, %esi
        mull    clock_tsc_scale - 1b(%ecx)
        mov     %edx, %edi              // low product >> 32
        mov     %esi, %eax
        mull    clock_tsc_scale - 1b(%ecx)
        add     %edi, %eax
        adc     $0, %edx
        ret

// Without one: the kernel's tick count. High, low, high again until no carry came between.
        .globl stub_clock_ticks, clock_ticks
stub_clock_ticks:
        call    1f
1:      pop     %ecx
2:      mov     clock_ticks + 4 - 1b(%ecx), %edx
        mov     clock_ticks - 1b(%ecx), %eax
        cmp     clock_ticks + 4 - 1b(%ecx), %edx
        jne     2b
        ret

        .balign 8
clock_tsc_base:  .quad 0
clock_tsc_scale: .long 0
        .long 0
clock_ticks:     .quad 0
        .org kip + 4096
