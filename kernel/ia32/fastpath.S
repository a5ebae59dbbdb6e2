// SPDX-License-Identifier: BSD-2-Clause
// The common IPC: a call, or a reply followed by an open receive, with untyped words only, to a partner that waits for
// it, without a receive timeout, with no sender queued, no redirector, and no resource of the processor held by the
// caller (fast_veto). All other cases go to `slow`, before anything has been changed. One path serves all kinds of
// spaces and both ways in; it branches where the work of spaces differs, and is assembled once for sysenter and once
// for `int`, on processors that lack sysenter.
//
// On entry: EAX to, ECX timeouts, EDX from, ESI MR0; EDI not used.
//   sysenter: EBP user stack pointer, EBX user return address; at EBP the stub has pushed what the trampoline's lret
//     takes: return address, user code selector. ESP points at the current thread's frame top. TF may be on: then a
//     debug exception comes before the first instruction, and clears it (entry.S). NT and AC stay as they are: they
//     matter to no kernel instruction here; DF is cleared for the next user.
//   int: ESP is the thread's frame, which the processor has filled in; the flags are the gate's.
//   CS, SS flat; DS, ES, FS, GS are the user's: memory is reached through SS (EBP and ESP imply it). Interrupts are
//   off.
// On the way: ESP + BIAS is the current thread, EBP its partner, each by the top of its frame. No stack is used. A
//   non-maskable interrupt pushes below ESP: over a frame that sysenter leaves unused, or below one that is in use.
//   EAX is the caller's own id once the partner is known (slow_known takes `to` back from the partner).
// On exit: EAX from, ESI MR0, EBX MR1 and EBP MR2 if there are words, EDI UTCB; by sysexit also EDX trampoline and user
//   data selector, ECX user stack. No kernel address leaves the kernel.
// Labels that nothing jumps to delimit the handling of address spaces, which experiments count by itself (docs/lab.md):
// `space` to `thread` and `compare` to `segments`, `segments` to `host`, `host` to `leave`; what is out of line
// likewise. A message of no words, the most common, has all that follows its transfer for itself, but for what is rare.

#include "ia32/layout.hpp"
#include "offsets.h"

#include "ia32/switch.inc"

        .macro  fast_ipc way, bias
        // The partner, by number; nobody() for unused numbers.
        movzwl  %cx, %ebx                       // a receive timeout needs the timeout queue
        or      THREAD_FAST_VETO + \bias(%esp), %ebx
        jnz     slow_\way
        mov     %eax, %ebx
        shr     $14, %ebx
        mov     %ss:THREAD_TABLE(, %ebx, 4), %ebp
        cmp     %eax, THREAD_ID(%ebp)
        jne     slow_\way
        cmp     %edx, %eax                      // call
        jne     reply_and_wait_\way
receives_\way:
        mov     THREAD_ID + \bias(%esp), %eax
        cmp     %eax, THREAD_STATE(%ebp)
        jne     open_receiver_\way
accepts_\way:
        mov     THREAD_PRIORITY(%ebp), %edi     // the partner runs now only if no higher priority is ready
        cmp     %ss:ready_top, %edi
        jb      slow_known_\way
        test    %si, %si
        jnz     words_\way
        to_partner null_\way, \way, \bias, leave_null_by_\way
        to_equal null_\way, \way, \bias
        check_gs null_\way

words_\way:
        test    $0xffc0, %si                    // typed items or flags
        jnz     slow_known_\way
        mov     %esi, %ecx
        and     $63, %ecx
        mov     THREAD_UTCB + \bias(%esp), %ebx
        mov     THREAD_UTCB(%ebp), %edi
1:      mov     %ss:UTCB_MR(%ebx, %ecx, 4), %eax
        mov     %eax, %ss:UTCB_MR(%edi, %ecx, 4)
        dec     %ecx
        jnz     1b
        mov     THREAD_ID + \bias(%esp), %eax
        to_partner \way, \way, \bias, leave_by_\way
        .globl  leave_\way
        to_equal \way, \way, \bias
        check_gs \way

        out_of_line \way

// Threads of one space know each other by local ids, and share their segment registers as they share their memory.
same_space_\way:
        mov     THREAD_UTCB_ADDRESS + \bias(%esp), %eax
same_segments_\way:
        mov     $TRAMPOLINE, %edx
        mov     %edx, %ebx
        jmp     leave_\way

open_receiver_\way:
        cmpl    $-1, THREAD_STATE(%ebp)
        je      accepts_\way
        sub     $-(\bias) - (THREAD_REGISTERS), %esp // as in slow_\way
        jmp     answer

reply_and_wait_\way:
        cmp     $-1, %edx
        je      receives_\way
        jmp     slow_\way

slow_known_\way:
        mov     THREAD_ID(%ebp), %eax
slow_\way:
        .ifc \way, int
        testb   $EFLAGS_VM >> 16, 10(%esp)      // see from_virtual_8086: the frame is not where it should be
        jnz     int_virtual_8086
        .endif
        .ifc \way, sysenter
        lea     -1(%eax), %ebx
        cmp     $GATE_CALLS, %ebx
        jb      reflect_sysenter
        .globl  no_gate
no_gate:
        .endif
        sub     $-(\bias) - (THREAD_REGISTERS), %esp // a non-maskable interrupt spares what is saved now
        jmp     slow
        .endm

        .macro  leave_null_by_sysenter
        mov     THREAD_FAST_ESP(%ebp), %ecx
        mov     %ecx, %ebp
        sti
        sysexit
        .endm

        .macro  leave_by_sysenter
        mov     THREAD_FAST_ESP(%ebp), %ecx
        test    %si, %si
        jnz     1f
        mov     %ecx, %ebp
        sti
        sysexit
1:      mov     THREAD_UTCB(%ebp), %ebp
        mov     UTCB_MR + 4(%ebp), %ebx
        mov     UTCB_MR + 8(%ebp), %ebp
        sti
        sysexit
        .endm

// The frame is as its thread was left waiting, and is not looked at: where the space has become too small for it
// meanwhile, or SS is a segment that the thread has lost, iret faults, and the thread leaves by the slow way
// (kernel_trap).
        .globl  exit_null_int, exit_empty_int, exit_words_int
        .macro  leave_null_by_int
        lea     THREAD_FRAME(%ebp), %esp
        movl    $USER_CODE, 4(%esp)             // null if its thread moved that into CS, which QEMU lets it
        xor     %ecx, %ecx
        xor     %ebp, %ebp
exit_null_int:
        iret
        .endm

        .macro  leave_by_int
        lea     THREAD_FRAME(%ebp), %esp
        movl    $USER_CODE, 4(%esp)             // null if its thread moved that into CS, which QEMU lets it
        xor     %ecx, %ecx
        test    %si, %si
        jnz     1f
        xor     %ebp, %ebp
exit_empty_int:
        iret
1:      mov     THREAD_UTCB(%ebp), %ebp
        mov     UTCB_MR + 4(%ebp), %ebx
        mov     UTCB_MR + 8(%ebp), %ebp
exit_words_int:
        iret
        .endm

        .section .text.fastpath, "ax"
        .balign 64
        .globl  sysenter_fast
sysenter_fast:
        cld
        mov     (%esp), %esp
        mov     %ebp, THREAD_FAST_ESP(%esp)
        mov     %ebx, THREAD_FAST_EIP(%esp)
        fast_ipc sysenter, 0

// ESP: the thread's registers.
        .globl  slow
slow:
        mov     %eax, THREAD_EAX - (THREAD_REGISTERS)(%esp)
        mov     %ecx, THREAD_ECX - (THREAD_REGISTERS)(%esp)
        mov     %edx, THREAD_EDX - (THREAD_REGISTERS)(%esp)
        mov     %esi, THREAD_ESI - (THREAD_REGISTERS)(%esp)
        lea     -(THREAD_TOP + THREAD_REGISTERS)(%esp), %eax
        mov     $processor, %esp
        push    $2                              // the user's NT, AC and TF end here
        popf
        mov     $KERNEL_DATA, %ecx
        mov     %ecx, %ds
        mov     %ecx, %es
        call    fast_entry_ipc
        jmp     leave_to_user

// ECX: a host that has missed revocations (hosts.hpp). Keeps EAX, ECX, ESI, EDI and EBP; DS and ES are the target's.
        .globl  clean_target
clean_target:
        mov     $KERNEL_DATA, %ebx
        mov     %ebx, %ds
        mov     %ebx, %es
        cld
        push    %eax
        push    %ecx
        mov     %ecx, %eax
        call    clean_host
        pop     %ecx
        pop     %eax
        mov     $USER_DATA, %ebx
        mov     %ebx, %ds
        mov     %ebx, %es
        ret

        .balign 32
        .globl  int_fast
int_fast:
        fast_ipc int, -(THREAD_FRAME)
int_virtual_8086:
        mov     $VECTOR_IPC, %ecx
        mov     $KERNEL_DATA, %edx
        mov     %edx, %ds
        mov     %edx, %es
        cld
        lea     THREAD_REGISTERS - (THREAD_FRAME)(%esp), %ebx // as if the registers had been pushed
        jmp     from_virtual_8086

// Copied to the page at TRAMPOLINE_PAGE (boot.cpp), executable for users: sysexit leaves with flat CS and SS; these two
// instructions take the running space's own before any instruction of the user's. Interrupted here, a thread is sent to
// the stub's lret in its interface page (trap.cpp); nothing ever returns to these addresses.
        .section .rodata
        .globl trampoline_code, trampoline_code_end
trampoline_code:
        mov     %edx, %ss
        lret
trampoline_code_end:
        .globl  trampoline
        .set    trampoline, TRAMPOLINE
