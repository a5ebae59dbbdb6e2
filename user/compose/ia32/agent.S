/* SPDX-License-Identifier: BSD-2-Clause */
/* An attacker's code. ESP is its block (agent.h) all the time. It waits for messages: label 0 is answered at once, with
 * any other MR1 is where it goes on. Of what it finds it tells by a message with the report's label. Nothing here
 * touches the UTCB but agent_accept, agent_give and agent_reflect: an access there would move the space's end. */
#include "agent.h"

#define ZERO_SEND_FOR_EVER 0x04000000
#define VECTOR_IPC 0x30
#define TAG_ERROR 0x8000

        .section .rodata
        .macro  label name
        .globl  agent_\name
agent_\name:
        .endm

        .balign 4
label begin

/* Limits of what can be named, as the descriptors have them now. */
        .macro  limits
        mov     $AGENT_USER_CODE, %eax
        lsl     %eax, %ecx
        mov     $AGENT_TLS, %eax
        xor     %edi, %edi
        lsl     %eax, %edx
        lar     %eax, %edi
        mov     $AGENT_USER_DATA, %eax
        lsl     %eax, %ebx
        mov     $AGENT_USER_CODE, %eax
        lsl     %eax, %eax
        mov     %eax, BLOCK_CS_AGAIN(%esp)
        mov     %ecx, BLOCK_CS_LIMIT(%esp)
        mov     %edx, BLOCK_TLS_LIMIT(%esp)
        mov     %edi, BLOCK_TLS_RIGHTS(%esp)
        mov     %ebx, BLOCK_DS_LIMIT(%esp)
        .endm

/* Sends the report by `entry`, and waits for messages. */
        .macro  tell entry:vararg
        mov     BLOCK_CONTROLLER(%esp), %eax
        mov     $AGENT_REPORT_LABEL << 16, %esi
1:      mov     $-1, %edx
        mov     $ZERO_SEND_FOR_EVER, %ecx
        \entry
        test    $TAG_ERROR, %esi
        jnz     2f
        mov     %esi, %ecx
        xor     %esi, %esi
        shr     $16, %ecx
        jz      1b
        jmp     *%ebx
2:      xor     %eax, %eax
        xor     %esi, %esi
        jmp     1b
        .endm

/* The limits before anything that could enter the kernel. Small enough to be sent to a thread as a message, and to run
 * in its message registers. */
label mini
        limits
        incl    BLOCK_COUNT(%esp)
label report
        tell    int $VECTOR_IPC
label mini_end

/* The same loop by the interface page's stub: by sysenter where there is one. */
label report_by_stub
        tell    call *BLOCK_STUB(%esp)

/* All that mini finds, which selectors can be named, and what each register's segment shows where the block is. */
label probe
        limits
        mov     $AGENT_UTCB_WORD, %eax
        lsl     %eax, %eax
        mov     %eax, BLOCK_GS_LIMIT(%esp)
        xor     %edi, %edi
        mov     $AGENT_SELECTORS << 3 | 3, %eax
1:      sub     $8, %eax
        add     %edi, %edi
        lar     %eax, %ecx
        jnz     2f
        inc     %edi
2:      cmp     $3, %eax
        jne     1b
        mov     %edi, BLOCK_NAMED(%esp)
        .set    place, BLOCK_SELECTORS
        .irp    register, ds, es, fs, gs, ss
        mov     %\register, %eax
        mov     %eax, place(%esp)
        .set    place, place + 4
        .endr
        lea     BLOCK_SIGNATURE(%esp), %esi
        mov     BLOCK_SIGNATURE(%esp), %eax
        xor     %edi, %edi
        cmp     %eax, %ds:(%esi)
        je      3f
        or      $1, %edi
3:      cmp     %eax, %es:(%esi)
        je      3f
        or      $2, %edi
3:      cmp     %eax, %cs:(%esi)
        je      3f
        or      $8, %edi
3:      cmpw    $AGENT_USER_DATA, BLOCK_SELECTORS + 8(%esp)
        jne     4f
        cmp     %eax, %fs:(%esi)
        je      4f
        or      $4, %edi
4:      mov     %edi, BLOCK_FOREIGN(%esp)
        incl    BLOCK_COUNT(%esp)
        jmp     agent_report

label load_fs
        mov     BLOCK_ARGUMENT(%esp), %eax
        mov     %eax, %fs
        jmp     agent_probe
label load_gs
        mov     BLOCK_ARGUMENT(%esp), %eax
        mov     %eax, %gs
        jmp     agent_probe

/* Takes map items from now on, wherever they go to. */
label accept
        mov     %gs:0, %edi
        movl    $0x10, -64(%edi)
        jmp     agent_report

/* A call of another system's, whose exception goes to the controller; in GS the thread's own segment, if it has one.
 * `argument`: the thread's UTCB. */
        .macro  name_handler
        mov     $AGENT_TLS, %eax
        lar     %eax, %ecx
        jnz     1f
        mov     %eax, %gs
1:
        mov     BLOCK_ARGUMENT(%esp), %edi
        mov     BLOCK_CONTROLLER(%esp), %eax
        mov     %eax, -44(%edi)
        .endm
label reflect
        name_handler
        int     $0x80
        jmp     agent_report
/* By sysenter, from a space that is controlled; an exception of its own on a processor without. */
label gate
        name_handler
        mov     $0x80, %eax
        mov     %esp, %ebp
        sysenter
        jmp     agent_report
/* Where an answer without iret leads: to where the controller has written below the block. */
label lret
        lret

/* A system call. */
label call
        mov     BLOCK_REGISTERS + 0(%esp), %eax
        mov     BLOCK_REGISTERS + 4(%esp), %ecx
        mov     BLOCK_REGISTERS + 8(%esp), %edx
        mov     BLOCK_REGISTERS + 12(%esp), %esi
        mov     BLOCK_REGISTERS + 16(%esp), %edi
        mov     BLOCK_REGISTERS + 20(%esp), %ebx
        mov     BLOCK_REGISTERS + 24(%esp), %ebp
        call    *BLOCK_TARGET(%esp)
        mov     %eax, BLOCK_EAX(%esp)
        mov     %esi, BLOCK_ESI(%esp)
        jmp     agent_report

/* Sends the item in the first two registers' places to the thread in `argument`. */
label give
        mov     %gs:0, %edi
        mov     BLOCK_REGISTERS + 0(%esp), %eax
        mov     %eax, 4(%edi)
        mov     BLOCK_REGISTERS + 4(%esp), %eax
        mov     %eax, 8(%edi)
        mov     BLOCK_ARGUMENT(%esp), %eax
        mov     $2 << 6, %esi
        xor     %edx, %edx
        mov     $ZERO_SEND_FOR_EVER, %ecx
        int     $VECTOR_IPC
        mov     %esi, BLOCK_ESI(%esp)
        jmp     agent_report

/* One access at `argument` by each register, which may end elsewhere. */
        .macro  reach register
label read_\register
        mov     BLOCK_ARGUMENT(%esp), %esi
        mov     %\register:(%esi), %eax
        mov     %eax, BLOCK_EAX(%esp)
        jmp     agent_report
label write_\register
        mov     BLOCK_ARGUMENT(%esp), %esi
        mov     BLOCK_WORD(%esp), %eax
        mov     %eax, %\register:(%esi)
        jmp     agent_report
        .endm
        reach   ds
        reach   es
        reach   fs
        reach   gs
        reach   ss
label read_cs
        mov     BLOCK_ARGUMENT(%esp), %esi
        mov     %cs:(%esi), %eax
        mov     %eax, BLOCK_EAX(%esp)
        jmp     agent_report
label end
        .section .note.GNU-stack, "", @progbits
