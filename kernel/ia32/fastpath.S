// SPDX-License-Identifier: BSD-2-Clause
// The common IPC, from sysenter to sysexit: a call, or a reply that waits for anybody, with untyped words only, to a
// partner that waits for it, without a receive timeout, with nobody queued. Whatever is different goes to `slow`, which has lost nothing by then.
// One path serves all kinds of spaces; it branches where their work differs.
//
// On entry: EAX to, ECX timeouts, EDX from, ESI MR0, EDI not used, EBP user stack pointer, EBX user return address;
//   at EBP the stub has pushed what the trampoline's lret takes: return address, user code selector.
//   CS, SS flat; DS, ES, FS, GS are the user's: memory is reached through SS (EBP and ESP imply it).
//   Interrupts are off. TF may be on: then a debug exception comes before the first instruction, and clears it
//   (entry.S). NT and AC stay as they are: they matter to no kernel instruction here; DF is cleared for the next user.
// On the way: ESP current thread, EBP its partner. No stack is used; there is room below a thread for a non-maskable
//   interrupt. EAX is the caller's own id once the partner is known (slow_known takes `to` back from the partner).
// On exit: EAX from, ESI MR0, EBX MR1 and EBP MR2 if there are words, EDI UTCB; EDX trampoline and user data selector; ECX user stack.

#include "ia32/layout.hpp"
#include "offsets.h"

        .section .text.fastpath, "ax"
        .balign 64
        .globl sysenter_fast
sysenter_fast:
        cld
        mov     (%esp), %esp
        mov     %ebp, THREAD_ESP(%esp)
        mov     %ebx, THREAD_EIP(%esp)
        test    %cx, %cx                        // a receive timeout needs the timeout queue
        jnz     slow
        mov     %eax, %ebx
        shr     $14, %ebx
        mov     %ss:THREAD_TABLE(, %ebx, 4), %ebp
        cmp     %eax, THREAD_ID(%ebp)
        jne     slow
        cmpl    $0, THREAD_SENDERS_WAITING(%esp) // somebody may be queued in the partner's name, too
        jne     slow
        cmp     %edx, %eax                      // call
        jne     reply_and_wait
receives:
        mov     THREAD_ID(%esp), %eax
        cmp     %eax, THREAD_OPEN_TO(%ebp)
        jne     open_receiver
accepts:
        mov     THREAD_PRIORITY(%ebp), %edi     // the partner runs now only if nobody better is ready
        cmp     %ss:ready_top, %edi
        jb      slow_known
        test    %si, %si
        jnz     words
transferred:
        mov     %edx, THREAD_OPEN_TO(%esp)
        movl    $0, THREAD_OPEN_TO(%ebp)
        mov     THREAD_SPACE(%ebp), %ecx
        mov     THREAD_UTCB_ADDRESS(%ebp), %edi
        mov     %edi, %ss:utcb_word
        mov     %ebp, %ss:processor             // current
        cmp     THREAD_SPACE(%esp), %ecx
        je      same_space
        mov     %ss:SPACE_SEGMENT_HIGH(%ecx), %ebx
        cmp     %ebx, %ss:gdt + (USER_CODE & ~7) + 4
        je      large_to_large

        // The target's segments, and with them all user segment registers: none may keep the old base.
        mov     %ss:SPACE_SEGMENT_LOW(%ecx), %edx
        mov     %ebx, %ss:gdt + (USER_CODE & ~7) + 4
        mov     %edx, %ss:gdt + (USER_CODE & ~7)
        xor     $0x800, %ebx                    // desc_code_not_data
        mov     %edx, %ss:gdt + (USER_DATA & ~7)
        mov     %ebx, %ss:gdt + (USER_DATA & ~7) + 4
        mov     $TRAMPOLINE, %edx
        mov     %edx, %ds
        mov     %edx, %es
        mov     %edx, %fs
        mov     $USER_UTCB, %ebx
        mov     %ebx, %gs
        cmpl    $0, %ss:SPACE_HOST_DIRECTORY(%ecx)
        jne     small_to_large
leave:
        mov     THREAD_ESP(%ebp), %ecx
        test    %si, %si
        jnz     leave_with_words
        mov     %ecx, %ebp                      // no kernel address leaves the kernel
        sti
        sysexit

// Large spaces have equal segments: only GS could be foreign without a fault to tell (gs:0 is read at address 0 of
// any data segment); nulled or limited other registers raise #GP and are repaired there (faults.cpp).
large_to_large:
        cmp     %ecx, %ss:processor + 4         // host
        je      1f
        mov     %ss:SPACE_HOST_DIRECTORY(%ecx), %ebx
        mov     %ecx, %ss:processor + 4
        mov     %ebx, %cr3
1:      mov     $TRAMPOLINE, %edx
        mov     %gs, %ebx
        cmp     $USER_UTCB, %ebx
        je      leave
        mov     $USER_UTCB, %ebx
        mov     %ebx, %gs
        jmp     leave

small_to_large:
        cmp     %ecx, %ss:processor + 4         // back to the previous large space: nothing to switch
        je      leave
        mov     %ss:SPACE_HOST_DIRECTORY(%ecx), %ebx
        mov     %ecx, %ss:processor + 4
        mov     %ebx, %cr3
        xor     %ebx, %ebx
        jmp     leave

// Threads of one space know each other by local ids, and share their segment registers as they share their memory.
same_space:
        mov     THREAD_UTCB_ADDRESS(%esp), %eax
        mov     $TRAMPOLINE, %edx
        mov     %edx, %ebx
        jmp     leave

leave_with_words:
        mov     THREAD_UTCB(%ebp), %ebp
        mov     UTCB_MR + 4(%ebp), %ebx
        mov     UTCB_MR + 8(%ebp), %ebp
        sti
        sysexit

open_receiver:
        cmpl    $-1, THREAD_OPEN_TO(%ebp)
        je      accepts
        jmp     slow_known

reply_and_wait:
        cmp     $-1, %edx
        je      receives
        jmp     slow

words:
        test    $0xffc0, %si                    // typed items or flags
        jnz     slow_known
        mov     %esi, %ecx
        and     $63, %ecx
        mov     THREAD_UTCB(%esp), %ebx
        mov     THREAD_UTCB(%ebp), %edi
1:      mov     %ss:UTCB_MR(%ebx, %ecx, 4), %eax
        mov     %eax, %ss:UTCB_MR(%edi, %ecx, 4)
        dec     %ecx
        jnz     1b
        mov     THREAD_ID(%esp), %eax
        jmp     transferred

slow_known:
        mov     THREAD_ID(%ebp), %eax
slow:
        mov     %eax, THREAD_EAX(%esp)
        mov     %ecx, THREAD_ECX(%esp)
        mov     %edx, THREAD_EDX(%esp)
        mov     %esi, THREAD_ESI(%esp)
        mov     %esp, %eax
        mov     $processor, %esp
        push    $2                              // the user's NT, AC and TF end here
        popf
        mov     $KERNEL_DATA, %ecx
        mov     %ecx, %ds
        mov     %ecx, %es
        push    %eax
        call    sysenter_ipc
        jmp     leave_to_user

// The boot option fastpath=off enters here.
        .globl sysenter_plain
sysenter_plain:
        mov     (%esp), %esp
        mov     %ebp, THREAD_ESP(%esp)
        mov     %ebx, THREAD_EIP(%esp)
        jmp     slow

// Mapped at TRAMPOLINE_PAGE, executable for users: sysexit leaves with flat CS and SS; these two instructions take the
// running space's own before any instruction of the user's. Interrupted here, a thread is sent to the stub's lret in
// its interface page (trap.cpp); nothing ever returns to these addresses.
        .section .trampoline, "ax"
        .balign 4096
        .globl trampoline_page
trampoline_page:
        .skip   TRAMPOLINE - TRAMPOLINE_PAGE
        mov     %edx, %ss
        lret
        .balign 4096, 0xcc
        .globl  trampoline
        .set    trampoline, TRAMPOLINE
