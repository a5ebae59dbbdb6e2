# SPDX-License-Identifier: BSD-2-Clause
# The measured loops. Everything here is counted as user code, so that it must be small and must touch little: the
# constants of a loop lie on the stack, whose top line the call to the stub touches anyway.
#
# Frame during a loop, addressed from ESP (struct Loop in pingpong.h, in the same order):
        .set    ROUNDS, 0
        .set    PARTNER, 4
        .set    TAG, 8
        .set    ENTRY, 12               # the Ipc stub in the kernel interface page of this space
        .set    WORK, 16                # address of the working set (code to call, or first word to read)
        .set    READS, 20
        .set    CASE, 24
        .set    FRAME, 28

        .set    ERROR_BIT, 0x8000
        .set    READ_DISTANCE, 4160

#include <cobnut/lab.h>

# One null call: EDI = UTCB in and out; EAX, EBX, ECX, EDX, EBP, ESI destroyed. Timeouts 0 = never.
.macro CALL_PARTNER
        movl    PARTNER(%esp), %eax
        movl    TAG(%esp), %esi
        movl    %eax, %edx
        xorl    %ecx, %ecx
        call    *ENTRY(%esp)
        testl   $ERROR_BIT, %esi
        jnz     client_failed
.endm

.macro WORK_NONE
.endm

.macro WORK_CALL
        call    *WORK(%esp)
.endm

.macro WORK_READ
        movl    READS(%esp), %ecx
        movl    WORK(%esp), %eax
        jecxz   2f
1:      movl    (%eax), %edx
        addl    $READ_DISTANCE, %eax
        decl    %ecx
        jnz     1b
2:
.endm

# The two loops of one kind of work: unmarked for warming up, marked for measuring.
.macro LOOPS kind
warm_\kind:
        CALL_PARTNER
        WORK_\kind
        decl    ROUNDS(%esp)
        jnz     warm_\kind
        jmp     client_done
marked_\kind:
        movl    $COBNUT_LAB_ITER, %eax
        COBNUT_LAB_MARK
        CALL_PARTNER
        WORK_\kind
        decl    ROUNDS(%esp)
        jnz     marked_\kind
        movl    $COBNUT_LAB_ITER, %eax
        COBNUT_LAB_MARK
        jmp     client_end
.endm

        .section .text.loops, "ax"
        .balign 4096                    # all of it on one page of its own

# L4_Word_t client_loop(const Loop *loop, unsigned kind, int marked): kind 0 no work, 1 call it, 2 read it.
# ROUNDS must not be 0. Returns 0, or the tag of the call that failed.
        .globl  client_loop
        .type   client_loop, @function
client_loop:
        pushl   %ebp
        pushl   %ebx
        pushl   %esi
        pushl   %edi
        movl    20(%esp), %esi
        movl    24(%esp), %ebx
        addl    %ebx, %ebx
        addl    28(%esp), %ebx
        movl    FRAME-4(%esi), %edx     # CASE
        .irp    offset, CASE, READS, WORK, ENTRY, TAG, PARTNER, ROUNDS
        pushl   \offset(%esi)
        .endr
        movl    %gs:0, %edi
        cmpl    $0, FRAME+28(%esp)
        je      1f
        movl    $COBNUT_LAB_BEGIN, %eax
        COBNUT_LAB_MARK
1:      jmp     *loop_table(,%ebx,4)

        LOOPS   NONE
        LOOPS   CALL
        LOOPS   READ

client_end:
        movl    CASE(%esp), %edx
        movl    $COBNUT_LAB_END, %eax
        COBNUT_LAB_MARK
client_done:
        xorl    %esi, %esi
client_failed:
        movl    %esi, %eax
        addl    $FRAME, %esp
        popl    %edi
        popl    %esi
        popl    %ebx
        popl    %ebp
        ret
        .size   client_loop, . - client_loop

# Where the last jump of a chain goes.
        .globl  chain_end
chain_end:
        ret

# L4_Word_t server_loop(L4_Word_t client, L4_Word_t tag, L4_Word_t entry): answers for ever, on its own page so that
# the two programs share no line of code but the stub. Returns only the tag of a failed call.
        .balign 4096
        .globl  server_loop
        .type   server_loop, @function
server_loop:
        pushl   %ebp
        pushl   %ebx
        pushl   %esi
        pushl   %edi
        pushl   28(%esp)                # entry
        pushl   28(%esp)                # tag (ESP has moved by a word)
        pushl   28(%esp)                # client
        pushl   $0                      # same frame as above
        movl    %gs:0, %edi
        xorl    %eax, %eax              # the first time only receive
        movl    PARTNER(%esp), %edx
        xorl    %ecx, %ecx
        xorl    %esi, %esi
        call    *ENTRY(%esp)
        testl   $ERROR_BIT, %esi
        jnz     2f
1:      movl    PARTNER(%esp), %eax
        movl    TAG(%esp), %esi
        movl    %eax, %edx
        xorl    %ecx, %ecx
        call    *ENTRY(%esp)
        testl   $ERROR_BIT, %esi
        jz      1b
2:      movl    %esi, %eax
        addl    $16, %esp
        popl    %edi
        popl    %esi
        popl    %ebx
        popl    %ebp
        ret
        .size   server_loop, . - server_loop

        .section .rodata
        .balign 4
loop_table:
        .long   warm_NONE, marked_NONE, warm_CALL, marked_CALL, warm_READ, marked_READ
        .section .note.GNU-stack, "", @progbits
