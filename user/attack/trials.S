// SPDX-License-Identifier: BSD-2-Clause
// The attack program's own assembly: what spaces.cc needs, then what attackers run (trials.h).
        .text
        .globl  attack_go
attack_go:
        mov     4(%esp), %ebp
        mov     4(%ebp), %esi
        mov     8(%ebp), %edi
        mov     12(%ebp), %ebx
        mov     16(%ebp), %ecx
        mov     20(%ebp), %edx
        mov     24(%ebp), %eax
        push    0(%ebp)
        mov     28(%ebp), %ebp
        ret

        .set    KIP, 0x00C00000                 // spaces.h
        .set    UTCB, 0x00800100
        .set    OWN, 0x00A00800
        .globl  attack_ipc
attack_ipc:
        push    %ebp
        push    %ebx
        push    %esi
        push    %edi
        mov     $KIP, %ebx
        add     KIP + 0xE0, %ebx
        mov     20(%esp), %eax
        mov     24(%esp), %edx
        mov     28(%esp), %ecx
        mov     32(%esp), %edi
        mov     (%edi), %esi
        call    *%ebx
        pushf
        cld
        mov     36(%esp), %edi
        mov     %esi, (%edi)
        mov     %ebx, 4(%edi)
        mov     %ebp, 8(%edi)
        mov     40(%esp), %edi
        mov     %eax, (%edi)
        pop     %eax
        pop     %edi
        pop     %esi
        pop     %ebx
        pop     %ebp
        ret
        .globl  attack_gs_word
attack_gs_word:
        mov     %gs:0, %eax
        ret

// What attackers run in trials; registers as for attempts, EDX as each says. All may be anywhere in the image.
        .macro  trial name
        .globl  trial_\name
trial_\name:
        .endm
        .macro  load_ipc                        // a call to EDX, no words: EBX the stub
        mov     $KIP, %ebx
        add     KIP + 0xE0, %ebx
        mov     %edx, %eax
        xor     %ecx, %ecx
        xor     %esi, %esi
        .endm
        .macro  call_partner
        load_ipc
        push    %edi
        mov     %gs:0, %edi
        call    *%ebx
        pop     %edi
        .endm

        .macro  acquaint                        // after a call of the slow path the partner is ready for the fast one
        pusha
        call_partner
        popa
        .endm

// A call to EDX, then a read through a register as the kernel has left it.
        .irp    segment, cs, ds, es, fs, ss
        trial   call_then_\segment
        acquaint
        call_partner
        mov     %\segment:(%edi), %eax
        ud2
        .endr
        trial   call_then_gs
        acquaint
        call_partner
        mov     %gs:0, %eax
        ud2
        trial   call_many                       // ECX times; EAX ORs what was not the attacker's own
        mov     %ecx, %ebp
        push    $0
1:      push    %ebp
        call_partner
        pop     %ebp
        mov     %ds:(%edi), %eax
        xor     $0x90909090, %eax
        or      %eax, (%esp)
        mov     %es:(%edi), %eax
        xor     %fs:(%edi), %eax
        or      %eax, (%esp)
        dec     %ebp
        jnz     1b
        pop     %eax
        xor     $0x90909090, %eax
        ud2

// A call to EDX in an odd state; what the partner saw of it: MR2 its GS, MR3 its flags.
        trial   call_with_own_gs
        acquaint
        mov     %ds, %ecx
        mov     %ecx, %gs
        load_ipc
        mov     $UTCB, %edi
        call    *%ebx
        mov     %ebp, %eax
        ud2
        trial   call_without_segments
        acquaint
        load_ipc
        mov     %gs:0, %edi
        mov     %ecx, %ds
        mov     %ecx, %es
        mov     %ecx, %fs
        call    *%ebx
        mov     %ebx, %eax
        ud2
        trial   call_with_flags                 // EBX
        acquaint
        push    %ebx
        load_ipc
        mov     %gs:0, %edi
        pushf
        pop     %ebp
        or      (%esp), %ebp
        push    %ebp
        popf
        call    *%ebx
        push    $2
        popf
        mov     %gs:0, %edi
        mov     12(%edi), %eax
        and     $0x23700, %eax                  // VM, IOPL, DF, IF, TF
        ud2

// sysenter without the stub: ESI the user stack, from which the return address and CS are taken.
        trial   sysenter_with_stack
        acquaint
        mov     %esi, %ebp
        load_ipc
        mov     %gs:0, %edi
        sysenter
        trial   sysenter_to                     // EBX the selector, ESI the address to return to
        acquaint
        push    %ebx
        push    %esi
        mov     %esp, %ebp
        load_ipc
        mov     (%esp), %ebx
        mov     %gs:0, %edi
        sysenter
        trial   sysenter_to_own_code
        acquaint
        push    %cs
        push    %esi
        mov     %esp, %ebp
        load_ipc
        mov     (%esp), %ebx
        mov     %gs:0, %edi
        sysenter
        trial   sysenter_slow                   // ESI the address to return to, by an IPC to no thread
        push    %cs
        push    %esi
        mov     %esp, %ebp
        load_ipc
        mov     %gs:0, %edi
        mov     (%esp), %ebx
        sysenter
        trial   sysenter_with_flags             // EBX, set right before it
        acquaint
        push    %cs
        push    $1f
        mov     %esp, %ebp
        pushf
        or      %ebx, (%esp)
        load_ipc
        mov     $1f, %ebx
        mov     %gs:0, %edi
        popf
        sysenter
1:      push    $2
        popf
        mov     OWN, %eax
        ud2
        trial   int_with_flags
        acquaint
        pushf
        or      %ebx, (%esp)
        load_ipc
        mov     %gs:0, %edi
        popf
        int     $0x30
        push    $2
        popf
        mov     OWN, %eax
        ud2
        trial   int_with_stack                  // ESI
        acquaint
        mov     %esi, %ebp
        load_ipc
        mov     %gs:0, %edi
        mov     %ebp, %esp
        int     $0x30
        mov     OWN, %eax
        ud2

// Registers as they are.
        trial   flags
        pushf
        pop     %eax
        push    $2
        popf
        ud2
        trial   selectors
        xor     %eax, %eax
        mov     %cs, %ax
        shl     $8, %eax
        mov     %ss, %ecx
        mov     %cl, %al
        shl     $8, %eax
        mov     %ds, %ecx
        mov     %cl, %al
        ud2
        trial   exchange_own_flags              // EDX its id, EBX the flags
        mov     %edx, %eax
        mov     %ebx, %edi
        mov     $0x20, %ecx
        mov     $KIP, %ebp
        add     KIP + 0xEC, %ebp
        call    *%ebp
        jmp     trial_flags
        trial   exchange_own_ip                 // ESI
        mov     %edx, %eax
        mov     $0x10, %ecx
        mov     $KIP, %ebp
        add     KIP + 0xEC, %ebp
        call    *%ebp
        ud2

// Tables and what lies behind GS. ESI is what leads from a linear address to the attacker's own.
        .macro  table name, store, instruction:vararg
        trial   \name
        \store  (%edi)
        mov     2(%edi), %ecx
        add     %esi, %ecx
        \instruction
        ud2
        .endm
        table   read_gdt, sgdt, mov (%ecx), %eax
        table   write_gdt, sgdt, mov %eax, 0x18(%ecx)
        table   write_idt, sidt, mov %eax, 0x80(%ecx)
        trial   scan_limits                     // how many selectors name a segment that ends at ECX or behind it
        xor     %eax, %eax
        xor     %ebx, %ebx
1:      lsl     %ebx, %edx
        jnz     2f
        cmp     %ecx, %edx
        jb      2f
        inc     %eax
2:      inc     %ebx
        cmp     $0x10000, %ebx
        jne     1b
        ud2
        trial   write_utcb_word
        mov     %eax, %gs:0
        ud2
        trial   read_past_utcb_word
        mov     %gs:1, %eax
        ud2
        trial   icebp
        .byte   0xF1
        ud2
        trial   into
        mov     $0x7FFFFFFF, %ecx
        inc     %ecx
        into
        ud2
        trial   unmap                           // EBX the fpage, with flush
        mov     %ebx, %esi
        mov     $0x40, %eax
        mov     $KIP, %ebp
        add     KIP + 0xE8, %ebp
        mov     %gs:0, %edi
        call    *%ebp
        mov     OWN, %eax
        ud2

// Ports: EDX.
        .macro  port name, text:vararg
        trial   \name
        \text
        mov     OWN, %eax
        ud2
        .endm
        port    in_byte, in %dx, %al
        port    in_word, in %dx, %ax
        port    in_long, in %dx, %eax
        port    out_byte, out %al, %dx
        port    out_long, out %eax, %dx
        trial   in_two                          // EBX, then EDX
        xchg    %edx, %ebx
        in      %dx, %al
        mov     %ebx, %edx
        in      %dx, %al
        mov     OWN, %eax
        ud2
        trial   in_string
        mov     $4, %ecx
        rep insb
        mov     OWN, %eax
        ud2
        trial   out_string
        mov     %edi, %esi
        mov     $4, %ecx
        rep outsb
        mov     OWN, %eax
        ud2
        trial   in_after_partner                // ESI has and uses port EDX
        push    %edx
        mov     %esi, %edx
        load_ipc
        mov     %gs:0, %edi
        mov     (%esp), %ebp
        mov     %ebp, 4(%edi)                   // MR1
        mov     $1, %esi
        call    *%ebx
        pop     %edx
        in      %dx, %al
        mov     OWN, %eax
        ud2
        .section .note.GNU-stack, "", @progbits
