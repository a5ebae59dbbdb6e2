# SPDX-License-Identifier: BSD-2-Clause
# The measured loops. Everything here is counted as user code, so that it must be small and must touch little: the
# constants of a loop lie on the stack, whose top line the call to the stub touches anyway.
#
# Frame during a loop, addressed from ESP (struct Loop in pingpong.h, in the same order):
        .set    ROUNDS, 0
        .set    PARTNER, 4
        .set    TAG, 8
        .set    ENTRY, 12               # the Ipc stub in the kernel interface page of this space
        .set    OTHER, 16               # the server whose turn is next, where there are two
        .set    CODE, 20                # address of the code to call
        .set    DATA, 24                # address of the first word to read
        .set    READS, 28
        .set    DISTANCE, 32            # bytes from one word to the next
        .set    SWEEP, 36               # address of what displaces everything else from the first-level cache
        .set    CASE, 40
        .set    FRAME, 44

        .set    ERROR_BIT, 0x8000
        .set    SWEEP_BYTES, 16384      # twice the largest first-level cache
        .set    SWEEP_STEP, 16          # the shortest line

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

# Two servers in turn.
.macro CALL_TURN
        movl    PARTNER(%esp), %eax
        movl    OTHER(%esp), %edx
        movl    %edx, PARTNER(%esp)
        movl    %eax, OTHER(%esp)
        CALL_PARTNER
.endm

.macro CALL_NOBODY
.endm

.macro WORK_NONE
.endm

.macro WORK_CODE
        call    *CODE(%esp)
.endm

.macro WORK_DATA
        movl    READS(%esp), %ecx
        movl    DATA(%esp), %eax
        movl    DISTANCE(%esp), %ebx
        jecxz   2f
1:      movl    (%eax), %edx
        addl    %ebx, %eax
        decl    %ecx
        jnz     1b
2:
.endm

.macro WORK_BOTH
        WORK_CODE
        WORK_DATA
.endm

# Reads whose page-table entries are no longer in the first-level cache.
.macro WORK_WALK
        movl    $SWEEP_BYTES / SWEEP_STEP, %ecx
        movl    SWEEP(%esp), %eax
1:      movl    (%eax), %edx
        addl    $SWEEP_STEP, %eax
        decl    %ecx
        jnz     1b
        WORK_DATA
.endm

# Reads on both sides of the own segment's start, so that it is as it was when all are done.
.macro WORK_TURN
        movl    READS(%esp), %ecx
        jecxz   2f
1:      movl    %gs:-4, %edx
        movl    %gs:0, %edx
        decl    %ecx
        jnz     1b
2:
.endm

# The two loops of one kind of call and one kind of work: unmarked for warming up, marked for measuring.
.macro LOOPS calls, work
warm_\calls\work:
        CALL_\calls
        WORK_\work
        decl    ROUNDS(%esp)
        jnz     warm_\calls\work
        jmp     client_done
marked_\calls\work:
        movl    $COBNUT_LAB_ITER, %eax
        COBNUT_LAB_MARK
        CALL_\calls
        WORK_\work
        decl    ROUNDS(%esp)
        jnz     marked_\calls\work
        movl    $COBNUT_LAB_ITER, %eax
        COBNUT_LAB_MARK
        jmp     client_end
.endm

        .section .text.loops, "ax"
        .balign 4096                    # all of it on one page of its own

# L4_Word_t client_loop(const Loop *loop, unsigned kind, int marked): kind is loop_kind() of pingpong.h.
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
        .irp    offset, CASE, SWEEP, DISTANCE, READS, DATA, CODE, OTHER, ENTRY, TAG, PARTNER, ROUNDS
        pushl   \offset(%esi)
        .endr
        movl    %gs:0, %edi
        cmpl    $0, FRAME+28(%esp)
        je      1f
        movl    $COBNUT_LAB_BEGIN, %eax
        COBNUT_LAB_MARK
1:      jmp     *loop_table(,%ebx,4)

        .irp    calls, PARTNER, TURN, NOBODY
        .irp    work, NONE, CODE, DATA, BOTH, WALK
        LOOPS   \calls, \work
        .endr
        .endr

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

# One answer, then the next call.
.macro ANSWER
        movl    PARTNER(%esp), %eax
        movl    TAG(%esp), %esi
        movl    %eax, %edx
        xorl    %ecx, %ecx
        call    *ENTRY(%esp)
        testl   $ERROR_BIT, %esi
.endm

# L4_Word_t server_loop(const Loop *loop, unsigned kind, int marked): answers for ever, on its own page so that client
# and server share no line of code but the stub. Kind 0 does no work, 1 reads; marked, the way back is an iteration of
# its own.
# Returns only the tag of a failed call.
        .balign 4096
        .globl  server_loop
        .type   server_loop, @function
server_loop:
        pushl   %ebp
        pushl   %ebx
        pushl   %esi
        pushl   %edi
        movl    20(%esp), %esi
        movl    24(%esp), %ebx
        addl    %ebx, %ebx
        addl    28(%esp), %ebx
        .irp    offset, CASE, SWEEP, DISTANCE, READS, DATA, CODE, OTHER, ENTRY, TAG, PARTNER, ROUNDS
        pushl   \offset(%esi)
        .endr
        pushl   server_table(,%ebx,4)
        popl    ROUNDS(%esp)            # where to go on
        movl    %gs:0, %edi
        xorl    %eax, %eax              # the first time only receive
        movl    PARTNER(%esp), %edx
        xorl    %ecx, %ecx
        xorl    %esi, %esi
        call    *ENTRY(%esp)
        testl   $ERROR_BIT, %esi
        jnz     server_failed
        jmp     *ROUNDS(%esp)

        .irp    work, NONE, DATA
serve_\work:
        WORK_\work
        ANSWER
        jz      serve_\work
        jmp     server_failed
serve_marked_\work:
        WORK_\work
        movl    $COBNUT_LAB_ITER, %eax
        COBNUT_LAB_MARK
        ANSWER
        jz      serve_marked_\work
        jmp     server_failed
        .endr

server_failed:
        movl    %esi, %eax
        addl    $FRAME, %esp
        popl    %edi
        popl    %esi
        popl    %ebx
        popl    %ebp
        ret
        .size   server_loop, . - server_loop

# Behind all others: none of them moves for it.
        LOOPS   PARTNER, TURN

        .section .rodata
        .balign 4
loop_table:
        .irp    calls, PARTNER, TURN, NOBODY
        .irp    work, NONE, CODE, DATA, BOTH, WALK
        .long   warm_\calls\work, marked_\calls\work
        .endr
        .endr
        .long   warm_PARTNERTURN, marked_PARTNERTURN
server_table:
        .irp    work, NONE, DATA
        .long   serve_\work, serve_marked_\work
        .endr
        .section .note.GNU-stack, "", @progbits
