// SPDX-License-Identifier: BSD-2-Clause
// Exceptions that a program asks for, and their answers, by the fast path: `int n` without a gate, which is how
// programs of other systems call their kernel, here a server that is their exception handler (manual 7.5, A.8); or
// sysenter, of those that know that their space is controlled (docs/controlled-spaces.md). What a reflected call needs
// that an IPC has not: all registers of the thread go to the handler's message registers, and come back from there; the
// thread leaves by its whole frame.
//
// The same as in ipc::exception and for its answer in ipc::call, where
// - the handler waits for that thread, or in an open receive, and no higher priority is ready;
// - the thread has nothing of the processor but a TLS segment in GS, or the coprocessor; its redirector, if it has one,
//   is its handler, to which it may send then;
// - the answer has twelve words and nothing else, and comes by the fast path's kind of system call.
// Whatever is different goes the slow way, which has lost nothing by then. The thread waits as State::reflected.
//
// The iret faults where the answer names an address that the thread does not have, where its CS or SS is a segment
// that it has lost (or null, as QEMU lets CS be), or where a flag of the handler's does not let it (NT, after
// sysenter); then the thread leaves by the slow way (kernel_trap).

#include "ia32/layout.hpp"
#include "offsets.h"
#include "ia32/switch.inc"

// ESP: the current thread's registers.
        .set    BIAS, -(THREAD_REGISTERS)
#define OWN(member) THREAD_##member + BIAS(%esp)
// Where the frame of a thread lies that leaves.
#define LEAVING     processor + PROCESSOR_LEAVING
// Frame and registers from there.
#define FRAME       (THREAD_FRAME-(THREAD_REGISTERS))
#define REGISTER(n) (4*(n))
#define MESSAGE(n)  UTCB_MR+4*(n)
// The same where popa is to take them.
#define ANSWERED(n) 4*((n)-5)(%esp)

// From one place of the thread's registers to a word of the message, and back. Words 5 to 12 are in popa's order.
        .macro  tell n, from, by
        mov     \from(%esp), \by
        mov     \by, %ss:MESSAGE(\n)(%edi)
        .endm
        .macro  take n, to, by
        mov     %ss:MESSAGE(\n)(%esi), \by
        mov     \by, THREAD_REGISTERS + \to(%ebp)
        .endm

        .globl  exit_answered
        .macro  leave_turn
        cmp     $LEAST_TAG, %esi
        jae     leave_message
        cmpb    $0, THREAD_TLS + TLS_SET(%ebp)
        je      tls_loaded
        // its segment as tls::enter has made it last, if its space lies where it did then
        mov     THREAD_SPACE(%ebp), %ecx
        mov     %ss:SPACE_SEGMENT_LOW(%ecx), %ebx
        cmp     %ebx, THREAD_TLS + TLS_WITHIN(%ebp)
        jne     leave_slowly
        mov     %ss:SPACE_SEGMENT_HIGH(%ecx), %ebx
        cmp     %ebx, THREAD_TLS + TLS_WITHIN + 4(%ebp)
        jne     leave_slowly
        cmpw    $0x100, THREAD_TLS + TLS_IN_FS(%ebp)  // in GS, not in FS
        jne     leave_slowly
        mov     THREAD_TLS + TLS_MADE(%ebp), %ebx
        mov     THREAD_TLS + TLS_MADE + 4(%ebp), %ecx
        mov     %ebx, %ss:gdt + (USER_TLS & ~7)
        mov     %ecx, %ss:gdt + (USER_TLS & ~7) + 4
        mov     $USER_TLS, %ebx
        mov     %ebx, %gs
        orl     $HELD_TLS, THREAD_FAST_VETO(%ebp)
tls_loaded:
        cmpl    $GATE_ANSWER, %ss:MESSAGE(4)(%esi)
        lea     MESSAGE(5)(%esi), %esp
        je      answer_to_gate
by_frame:
        lea     THREAD_FRAME(%ebp), %eax
        mov     %eax, %ss:LEAVING
        popa
        mov     %ss:LEAVING, %esp               // at once: a non-maskable interrupt pushes below it
exit_answered:
        iret
// By sysexit, and lret with the thread's own segments, as it leaves an IPC; if this processor's IPC is by sysenter.
answer_to_gate:
        cmpl    $leave_sysenter, %ss:processor + PROCESSOR_LEAVE
        jne     by_frame
        mov     ANSWERED(8), %ecx
        movl    $TRAMPOLINE, ANSWERED(10)
        mov     %ecx, ANSWERED(11)
        popa
        sti
        sysexit
        .endm

        .section .text.fastpath, "ax"
// Calls by sysenter, in a space that is controlled. The frame is made as if it were a gate's; the user has told its
// stack pointer, and nothing of its flags or of where it goes on. ESP: the top of its frame.
        .globl  reflect_sysenter
reflect_sysenter:
        mov     THREAD_SPACE(%esp), %ebx
        cmpb    $0, %ss:SPACE_CONTROLLED(%ebx)
        je      no_gate
        mov     THREAD_FAST_EIP(%esp), %ebx
        mov     THREAD_FAST_ESP(%esp), %ebp
        push    $USER_DATA
        push    %ebp
        push    $EFLAGS_USER
        push    $USER_CODE
        push    $0
        push    %eax
        push    %ecx
        save_rest
        mov     $GATE_ERROR, %ecx
        jmp     reflect_call

// A protection fault of a thread with a segment in GS is taken for an access past its limit, and the segment is turned
// to the other side of its base (tls.hpp). If it was something else, it comes again, at the same address, and goes the
// slow way, as a second access of the same instruction does. Nothing is read of the instruction, which may be gone.
// A GS that names the segment says that it is this thread's and in force: nobody loads it while its descriptor is
// empty, and a switch to a thread without one replaces it.
// An entry from virtual 8086 mode, whose frame is longer, finds GS null. Of selectors the low byte tells. The iret
// faults where the thread has run off the end of its CS; then it leaves by the slow way (kernel_trap).
        .globl  exit_turned
turn_segment:
        push    %ebp
        mov     %gs, %eax
        cmp     $USER_TLS, %al
        jne     unturned
        mov     12 + 4(%esp), %eax
        lea     THREAD_TLS - (THREAD_FRAME) + 12(%esp), %ebp
        cmp     $USER_CODE, %al
        jne     unturned
        mov     %fs, %eax
        cmp     $USER_DATA, %al
        jne     unturned
        mov     12(%esp), %eax
        cmp     %eax, TLS_TURNED_AT(%ebp)
        je      unturned
        cmp     $TRAMPOLINE_PAGE, %eax          // its lret: out of the own CS's reach (leave_trampoline)
        jae     unturned
        mov     %eax, TLS_TURNED_AT(%ebp)
        mov     %ecx, TLS_TURNED(%ebp)          // 0, or what is as little the number of some registers
        mov     TLS_TOGGLE(%ebp), %eax
        mov     TLS_TOGGLE + 4(%ebp), %ecx
        xor     TLS_MADE(%ebp), %eax
        xor     TLS_MADE + 4(%ebp), %ecx
        mov     %eax, TLS_MADE(%ebp)
        mov     %ecx, TLS_MADE + 4(%ebp)
        mov     $gdt + (USER_TLS & ~7), %ebp
        mov     %eax, (%ebp)
        mov     $USER_TLS, %eax
        mov     %ecx, 4(%ebp)
        pop     %ebp
        mov     %eax, %gs
        pop     %ecx
        pop     %eax
exit_turned:
        iret
unturned:
        pop     %ebp
        save_rest
not_reflected:
        mov     %ecx, %eax
        mov     $13, %ecx
        push    $2                      // NT, after sysenter
        popf
        jmp     common_saved

// The gate of protection faults. Without xchg with memory, which locks the bus.
        .globl  reflect
reflect:
        push    %ecx
        mov     4(%esp), %ecx           // the error code
        mov     %eax, 4(%esp)
        test    $2, %cl                 // a gate's
        jz      turn_segment
        save_rest
        test    $1, %cl                 // for an external interrupt
        jnz     not_reflected
reflect_call:
        mov     OWN(UTCB), %edi
        mov     %ss:UTCB_EXCEPTION_HANDLER(%edi), %edx
        mov     %edx, %ebx
        shr     $14, %ebx
        mov     %ss:THREAD_TABLE(, %ebx, 4), %ebp
        cmp     %edx, THREAD_ID(%ebp)
        jne     not_reflected
        mov     OWN(ID), %eax
        cmpl    $-1, THREAD_STATE(%ebp)
        je      1f
        cmp     %eax, THREAD_STATE(%ebp)
        jne     not_reflected
1:      mov     THREAD_PRIORITY(%ebp), %ebx
        cmp     %ss:ready_top, %ebx
        jb      not_reflected
        mov     OWN(FAST_VETO), %ebx
        test    %ebx, %ebx
        jz      reflect_go
        cmp     $HELD_TLS, %ebx
        jne     reflect_veto
give_segment_up:
        mov     %fs, %edi                       // of which a 486 gives 16 bits
        cmp     $USER_TLS, %di
        je      not_reflected
        mov     %gs, %edi
        cmp     $USER_TLS, %di
        jne     not_reflected
        movw    $0x100, TLS_IN_FS + OWN(TLS)    // in GS, not in FS
        mov     $USER_UTCB, %edi
        mov     %edi, %gs
        movl    $0, %ss:gdt + (USER_TLS & ~7) + 4
        andb    $~(HELD_TLS >> 8), 1 + OWN(FAST_VETO)
reflect_go:
        mov     THREAD_UTCB(%ebp), %edi
        mov     %edx, OWN(AWAITED)
        tell    1, FRAME, %ebx                  // EIP
        tell    2, FRAME+8, %edx                // EFLAGS
        movl    $13, %ss:MESSAGE(3)(%edi)
        mov     %ecx, %ss:MESSAGE(4)(%edi)
        tell    5, REGISTER(0), %ebx            // EDI
        tell    6, REGISTER(1), %edx            // ESI
        tell    7, REGISTER(2), %ebx            // EBP
        tell    8, FRAME+12, %edx               // ESP
        tell    9, REGISTER(4), %ebx            // EBX
        tell    10, REGISTER(5), %edx           // EDX
        tell    11, REGISTER(6), %ebx           // ECX
        tell    12, REGISTER(7), %edx           // EAX
        mov     $STATE_REFLECTED, %edx
        mov     $EXCEPTION_TAG, %esi
// ESI: the tag of a message that leaves as an IPC does; or a UTCB, the handler's, from which popa takes the registers.
// (A non-maskable interrupt pushes over words that have been taken; what it pushes stays there.)
turn:
        to_partner turn, turn, BIAS, leave_turn
        out_of_line turn

// Nothing may be different once the thread has given up what it has of the processor. An entry from virtual 8086 mode,
// whose frame is longer, finds an id for the veto (offsets.cpp), and ends here.
reflect_veto:
        test    $~(HELD_TLS | HELD_COPROCESSOR | VETO_REDIRECTED), %ebx
        jnz     not_reflected
        test    $VETO_REDIRECTED, %bl
        jz      1f
        mov     OWN(SPACE), %edi
        cmp     %edx, %ss:SPACE_REDIRECTOR(%edi)
        jne     not_reflected
1:      test    $HELD_COPROCESSOR >> 8, %bh
        jz      2f
        mov     %cr0, %edi
        or      $CR0_TASK_SWITCHED, %edi
        mov     %edi, %cr0
        andb    $~(HELD_COPROCESSOR >> 8), 1 + OWN(FAST_VETO)
2:      test    $HELD_TLS >> 8, %bh
        jz      reflect_go
        jmp     give_segment_up

// EAX: the pager, which has the page fault's message (fault_path.cpp).
        .globl  turn_to_pager
turn_to_pager:
        lea     THREAD_TOP(%eax), %ebp
        mov     CURRENT, %edi
        lea     THREAD_REGISTERS(%edi), %esp    // at once: a non-maskable interrupt pushes below it
        mov     THREAD_UTCB(%ebp), %edi
        mov     MESSAGE(0)(%edi), %esi
        mov     OWN(ID), %eax
        mov     $STATE_FAULTED, %edx
        jmp     turn

// Its answer maps one page, or it is nothing for this path. The thread has its registers where they were saved.
        .globl  faulted
faulted:
        cmpl    $STATE_FAULTED, THREAD_STATE(%ebp)
        jne     no_answer
        cmp     $ONE_ITEM, %si
        jne     no_answer
        mov     %esp, %edi
        mov     %edx, %ebx
        mov     $processor, %esp
        push    %ecx
        cld
        mov     $KERNEL_DATA, %ecx
        mov     %ecx, %ds
        mov     %ecx, %es
        lea     -(THREAD_TOP + THREAD_REGISTERS)(%edi), %eax
        lea     -(THREAD_TOP)(%ebp), %edx
        call    answer_fault
        pop     %ecx
        mov     %edi, %esp
        mov     %ebx, %edx
        test    %al, %al
        mov     OWN(ID), %eax
        jz      no_answer
        lea     THREAD_REGISTERS - (MESSAGE(5))(%ebp), %esi
        movl    $0, THREAD_REGISTERS - 4(%ebp)  // in place of an answer's error code; free while the thread runs
        jmp     turn

no_answer:
        mov     THREAD_ID(%ebp), %eax
        jmp     slow

// An IPC to a thread that is not open. ESP: the registers of the sender, of which none is saved; EAX: its id; EBP: the
// thread.
        .globl  answer
answer:
        cmpl    $STATE_REFLECTED, THREAD_STATE(%ebp)
        jne     faulted
        cmp     %eax, THREAD_AWAITED(%ebp)
        jne     no_answer
        cmp     $12, %si
        jne     no_answer
        mov     THREAD_PRIORITY(%ebp), %edi
        cmp     %ss:ready_top, %edi
        jb      no_answer
        mov     OWN(UTCB), %esi
        take    1, FRAME, %ebx
        mov     %ss:MESSAGE(2)(%esi), %ecx
        xor     THREAD_REGISTERS + FRAME + 8(%ebp), %ecx
        and     $EFLAGS_CHANGEABLE, %ecx
        xor     %ecx, THREAD_REGISTERS + FRAME + 8(%ebp)
        take    8, FRAME+12, %ebx
        jmp     turn

leave_message:
        jmp     *%ss:processor + PROCESSOR_LEAVE

// As in arch::enter, but the standard segments may be in force already: none of them may be foreign. EAX: the local id
// of a thread of the same space, for which only an IPC's receiver looks.
        to_equal turn, turn, BIAS
standard_segments:
        mov     $USER_UTCB, %ebx
        mov     %ebx, %gs
        mov     $TRAMPOLINE, %edx
        mov     %edx, %ds
        mov     %edx, %es
        mov     %edx, %fs
        jmp     leave_turn
same_space_turn:
        mov     OWN(UTCB_ADDRESS), %eax
        jmp     standard_segments

leave_slowly:
        mov     $KERNEL_DATA, %ecx
        mov     %ecx, %ds
        mov     %ecx, %es
        cld
        add     $MESSAGE(5), %esi
        lea     THREAD_REGISTERS(%ebp), %edi
        mov     $8, %ecx
        rep movsl
        mov     $processor, %esp
        push    $2                              // NT
        popf
        jmp     leave_to_user
