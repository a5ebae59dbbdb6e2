// SPDX-License-Identifier: BSD-2-Clause
// The attempts' instructions (attempts.h says what is in which register). Position-independent, no symbol is referred
// to by its address: a harness may run a copy.

        .macro  attempt name
        .globl  attempt_\name
attempt_\name:
        .endm
        .macro  finish
        ud2
        .endm

        .section .text.attempts, "ax"
        .balign 64
        .globl  attack_code_start
attack_code_start:

// Data, by each register.
        .macro  access segment
        attempt read_\segment
        mov     %\segment:(%esi), %eax
        finish
        attempt write_\segment
        mov     %eax, %\segment:(%esi)
        mov     %\segment:(%esi), %eax
        xor     $0x5A5A5A5A ^ 0x90909090, %eax
        finish
        .endm
        access  ds
        access  es
        access  fs
        access  ss
        attempt read_cs
        mov     %cs:(%esi), %eax
        finish
        attempt write_cs
        mov     %eax, %cs:(%esi)
        finish
        attempt read_gs                         // GS is something else at first
        mov     %ds, %ecx
        mov     %ecx, %gs
        mov     %gs:(%esi), %eax
        finish
        attempt write_gs
        mov     %ds, %ecx
        mov     %ecx, %gs
        mov     %eax, %gs:(%esi)
        mov     (%esi), %eax
        xor     $0x5A5A5A5A ^ 0x90909090, %eax
        finish

// Other sizes and kinds of access.
        attempt read_byte
        movzbl  (%esi), %eax
        finish
        attempt read_word
        movzwl  (%esi), %eax
        finish
        attempt write_byte
        movb    $0x90, (%esi)
        mov     (%edi), %eax
        finish
        attempt add_locked
        lock addl $0, (%esi)
        mov     (%edi), %eax
        finish
        attempt exchange
        mov     (%edi), %eax
        xchg    %eax, (%esi)
        finish
        attempt xlat
        mov     %esi, %ebx
        xor     %eax, %eax
        xlat
        finish
        attempt save_coprocessor                // 108 bytes
        fnsave  (%esi)
        fninit
        mov     (%edi), %eax
        finish
        attempt load_environment                // 28 bytes
        fninit
        fnstenv (%edi)
        fldenv  (%esi)
        fninit
        mov     $0x90909090, %eax
        finish
        .macro  far_pointer name
        attempt \name
        \name   (%esi), %eax
        finish
        .endm
        far_pointer lds
        far_pointer les
        far_pointer lfs
        far_pointer lgs
        far_pointer lss

// Strings, ECX times; the stack is the scratch page's end.
        attempt movs_from
        rep movsb
        mov     -4(%esi), %eax
        finish
        attempt movs_to
        xchg    %esi, %edi
        rep movsl
        mov     -4(%edi), %eax
        finish
        attempt stos
        mov     %esi, %edi
        mov     $0x90909090, %eax
        rep stosl
        mov     -4(%edi), %eax
        finish
        attempt lods
        rep lodsl
        finish
        attempt scas                            // looks for what is only beyond
        mov     %esi, %edi
        mov     $0xCC, %eax
        repne scasb
        movzbl  -1(%edi), %eax
        finish
        attempt cmps
        cmp     %eax, %eax
        repe cmpsb
        movzbl  -1(%esi), %eax
        finish
        attempt movs_down
        std
        rep movsb
        cld
        movzbl  1(%esi), %eax
        finish
        attempt stos_down
        mov     %esi, %edi
        mov     $0x90909090, %eax
        std
        rep stosl
        cld
        mov     4(%edi), %eax
        finish

// ESI as the stack pointer.
        attempt push
        mov     %esi, %esp
        push    $0x90909090
        mov     (%esp), %eax
        finish
        attempt pop
        mov     %esi, %esp
        pop     %eax
        finish
        attempt pusha
        mov     %esi, %esp
        pusha
        mov     (%edi), %eax
        finish
        attempt popa
        mov     %esi, %esp
        popa
        finish
        attempt enter
        mov     %esi, %esp
        mov     $0x90909090, %ebp
        enter   $0, $0
        mov     (%esp), %eax
        finish
        attempt leave
        mov     %esi, %ebp
        leave
        mov     %ebp, %eax
        finish
        attempt call_with_stack
        mov     %esi, %esp
        call    1f
1:      mov     $0x90909090, %eax
        finish
        attempt pushf
        mov     %esi, %esp
        pushf
        mov     $0x90909090, %eax
        finish
        attempt lret_from                       // twice nops: a selector that is none
        mov     %esi, %esp
        lret
        finish
        attempt iret_from
        mov     %esi, %esp
        iret
        finish

// To ESI, by each way that leads there. The last instruction of the attacker's own pages is ud2.
        attempt jump
        mov     $0x90909090, %eax
        jmp     *%esi
        attempt call
        mov     $0x90909090, %eax
        call    *%esi
        attempt return
        mov     $0x90909090, %eax
        push    %esi
        ret
        attempt far_return
        mov     $0x90909090, %eax
        push    %cs
        push    %esi
        lret
        attempt interrupt_return
        mov     $0x90909090, %eax
        pushf
        push    %cs
        push    %esi
        iret
        attempt far_jump
        mov     $0x90909090, %eax
        push    %cs
        push    %esi
        ljmp    *(%esp)
        attempt far_call
        mov     $0x90909090, %eax
        push    %cs
        push    %esi
        lcall   *(%esp)
        attempt run_over                        // an instruction that begins inside
        movb    $0xB8, -1(%esi)
        lea     -1(%esi), %ecx
        jmp     *%ecx

// EBX as a selector: one that is let through reads at ESI, or goes on behind. For *_tls it is the thread's own segment.
        .macro  load register
        attempt load_\register
        mov     %ebx, %\register
        mov     %\register:(%esi), %eax
        finish
        .endm
        load    ds
        load    es
        load    fs
        load    gs
        attempt load_ss
        mov     %ebx, %ss
        mov     %ss:(%esi), %eax
        finish
        attempt pop_ds
        push    %ebx
        pop     %ds
        mov     (%esi), %eax
        finish
        attempt lds_selector
        push    %ebx
        push    %esi
        lds     (%esp), %esi
        mov     (%esi), %eax
        finish
        attempt read_tls
        mov     %ebx, %fs
        mov     %fs:(%esi), %eax
        finish
        attempt write_tls
        mov     %ebx, %fs
        mov     %eax, %fs:(%esi)
        mov     %fs:(%esi), %eax
        xor     $0x5A5A5A5A ^ 0x90909090, %eax
        finish
        .macro  next_address                    // of the label 1 behind, into ECX
        call    9f
9:      pop     %ecx
        add     $1f - 9b, %ecx
        .endm
        attempt return_selector
        next_address
        push    %ebx
        push    %ecx
        lret
1:      mov     (%esi), %eax
        finish
        attempt interrupt_return_selector
        next_address
        pushf
        push    %ebx
        push    %ecx
        iret
1:      mov     (%esi), %eax
        finish
        attempt jump_selector
        next_address
        push    %ebx
        push    %ecx
        ljmp    *(%esp)
1:      mov     (%esi), %eax
        finish
        attempt call_selector
        next_address
        push    %ebx
        push    %ecx
        lcall   *(%esp)
1:      mov     (%esi), %eax
        finish
        attempt verify_read
        xor     %eax, %eax
        verr    %bx
        setz    %al
        finish
        attempt verify_write
        xor     %eax, %eax
        verw    %bx
        setz    %al
        finish
        attempt segment_limit
        xor     %eax, %eax
        lsl     %ebx, %eax
        finish
        attempt access_rights
        xor     %eax, %eax
        lar     %ebx, %eax
        finish

// Flags: 0 if none of those in question changed (bits 0: IF, 1: IOPL, 2: VM).
        .macro  judge_flags                     // EAX: the flags
        mov     %eax, %ecx
        shr     $9, %eax
        and     $1, %eax
        xor     $1, %eax
        test    $0x3000, %ecx
        jz      8f
        or      $2, %eax
8:      test    $0x20000, %ecx
        jz      8f
        or      $4, %eax
8:      finish
        .endm
        attempt popf
        pushf
        pop     %eax
        and     $~0x200, %eax
        or      $0x3000, %eax
        push    %eax
        popf
        pushf
        pop     %eax
        judge_flags
        attempt interrupt_return_flags
        next_address
        pushf
        andl    $~0x200, (%esp)
        orl     $0x3000, (%esp)
        push    %cs
        push    %ecx
        iret
1:      pushf
        pop     %eax
        judge_flags
        attempt virtual_8086                    // with all that a return to it would take
        next_address
        mov     %esp, %eax
        push    $0
        push    $0
        push    $0
        push    $0
        mov     %ss, %edx
        push    %edx
        push    %eax
        pushf
        orl     $0x20000, (%esp)
        push    %cs
        push    %ecx
        iret
1:      pushf
        pop     %eax
        judge_flags
        attempt nested_task
        next_address
        pushf
        orl     $0x4000, (%esp)
        popf
        pushf
        push    %cs
        push    %ecx
        iret
1:      mov     (%edi), %eax
        finish

// Forbidden instructions, and interrupts that are not for users.
        .macro  forbidden name, text:vararg
        attempt \name
        \text
        mov     (%edi), %eax
        finish
        .endm
        forbidden cli, cli
        forbidden sti, sti
        forbidden hlt, hlt
        forbidden clts, clts
        forbidden invd, invd
        forbidden wbinvd, wbinvd
        forbidden lgdt, lgdt (%edi)
        forbidden lidt, lidt (%edi)
        forbidden lldt, lldt %bx
        forbidden ltr, ltr %bx
        forbidden lmsw, lmsw %bx
        forbidden read_cr3, mov %cr3, %eax
        forbidden write_cr3, mov %eax, %cr3
        forbidden write_cr0, mov %eax, %cr0
        forbidden write_cr4, mov %eax, %cr4
        forbidden invlpg, invlpg (%edi)
        forbidden rdmsr, rdmsr
        forbidden wrmsr, wrmsr
        forbidden sysexit, sysexit
        forbidden in, in $0x21, %al
        forbidden int_double_fault, int $8
        forbidden int_page_fault, int $14
        forbidden int_timer, int $0x20
        forbidden int_none, int $0xFF
        forbidden nothing, nop

        .globl  attack_code_end
attack_code_end:
        .section .note.GNU-stack, "", @progbits
