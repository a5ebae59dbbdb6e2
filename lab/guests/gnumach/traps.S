/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the program starts, and Mach's system calls: a call through the gate of selector 7, with the negative number in
 * EAX and the arguments where C has put them, behind a return address (GNU Mach, i386/i386/locore.S, syscall). All
 * registers but EAX, which gets the result, stay as they are. The numbers are those of kern/syscall_sw.c.
 */
        .text
        .globl  _start
_start: mov     %esp, %eax
        and     $-16, %esp
        sub     $12, %esp
        push    %eax
        call    start                   # (argument count, then the arguments) does not return

        .macro  trap name, number
        .globl  \name
\name:  mov     $-\number, %eax
        lcall   $7, $0
        ret
        .endm

        trap    mach_msg, 25
        trap    mach_reply_port, 26
        trap    mach_task_self, 28
        trap    vm_map, 64
        trap    vm_allocate, 65
        trap    vm_deallocate, 66
        trap    task_create, 68
        trap    task_terminate, 69
        trap    mach_port_allocate, 72
        trap    mach_port_deallocate, 73
        trap    mach_port_insert_right, 74

        .section .note.GNU-stack, "", @progbits
