# SPDX-License-Identifier: BSD-2-Clause
# The two doors to the kernel (declared in l4/processor/ia32.h). Both find the caller's kernel interface page through
# the word ThreadWord1 of its UTCB, filled on first use by `lock nop`, and then make an indirect near call to page base
# + entry offset, with the registers of the manual's table. cdecl; EFLAGS are not promised by the kernel, so DF is
# cleared after the call for the compiler's sake.

        .set    UTCB_THREAD_WORD1, -20
        .text

# __L4_Kip_Base(): EAX = base. Keeps all other registers but flags.
        .globl  __L4_Kip_Base
        .type   __L4_Kip_Base, @function
__L4_Kip_Base:
        pushl   %edi
        movl    %gs:0, %edi
        movl    UTCB_THREAD_WORD1(%edi), %eax
        testl   %eax, %eax
        jnz     1f
        pushl   %ecx
        pushl   %edx
        pushl   %esi
        lock; nop                       # EAX base, ECX version, EDX flags, ESI kernel id
        popl    %esi
        popl    %edx
        popl    %ecx
        movl    %eax, UTCB_THREAD_WORD1(%edi)
1:      popl    %edi
        ret
        .size   __L4_Kip_Base, . - __L4_Kip_Base

# L4_Word_t __L4_Ipc_Stub(to, from_specifier, timeouts, from *, field)
        .globl  __L4_Ipc_Stub
        .type   __L4_Ipc_Stub, @function
__L4_Ipc_Stub:
        pushl   %ebp
        pushl   %ebx
        pushl   %esi
        pushl   %edi                    # arguments now at 20(%esp)
        call    __L4_Kip_Base
        movl    36(%esp), %ebx          # field
        movl    (%eax,%ebx), %ebx
        addl    %eax, %ebx              # entry
        movl    20(%esp), %eax          # to
        movl    24(%esp), %edx          # FromSpecifier
        movl    28(%esp), %ecx          # timeouts
        movl    %gs:0, %edi             # UTCB
        movl    (%edi), %esi            # MR0
        call    *%ebx
        cld
        movl    %esi, (%edi)
        cmpl    $0, 24(%esp)            # nothing was received: MR1 and MR2 registers mean nothing
        je      1f
        movl    %ebx, 4(%edi)
        movl    %ebp, 8(%edi)
1:      movl    32(%esp), %edx
        testl   %edx, %edx
        je      2f
        movl    %eax, (%edx)
2:      movl    %esi, %eax
        popl    %edi
        popl    %esi
        popl    %ebx
        popl    %ebp
        ret
        .size   __L4_Ipc_Stub, . - __L4_Ipc_Stub

# void __L4_Call_Stub(field, regs *): the entry that the interface page names at `field`, then as __L4_Call_Entry.
        .globl  __L4_Call_Stub
        .type   __L4_Call_Stub, @function
__L4_Call_Stub:
        call    __L4_Kip_Base
        movl    4(%esp), %ecx
        addl    (%eax,%ecx), %eax
        movl    %eax, 4(%esp)           # the arguments are the callee's

# void __L4_Call_Entry(entry, regs *): regs in the order EAX ECX EDX ESI EDI EBX EBP. Touches no memory but the stack
# and regs.
        .globl  __L4_Call_Entry
        .type   __L4_Call_Entry, @function
__L4_Call_Entry:
        pushl   %ebp
        pushl   %ebx
        pushl   %esi
        pushl   %edi                    # entry at 20(%esp), regs at 24(%esp)
        movl    24(%esp), %ebp
        movl    0(%ebp), %eax
        movl    4(%ebp), %ecx
        movl    8(%ebp), %edx
        movl    12(%ebp), %esi
        movl    16(%ebp), %edi
        movl    20(%ebp), %ebx
        movl    24(%ebp), %ebp
        call    *20(%esp)
        cld
        pushl   %ebp                    # regs at 28(%esp)
        movl    28(%esp), %ebp
        movl    %eax, 0(%ebp)
        movl    %ecx, 4(%ebp)
        movl    %edx, 8(%ebp)
        movl    %esi, 12(%ebp)
        movl    %edi, 16(%ebp)
        movl    %ebx, 20(%ebp)
        popl    24(%ebp)
        popl    %edi
        popl    %esi
        popl    %ebx
        popl    %ebp
        ret
        .size   __L4_Call_Entry, . - __L4_Call_Entry
        .size   __L4_Call_Stub, . - __L4_Call_Stub
        .section .note.GNU-stack, "", @progbits
