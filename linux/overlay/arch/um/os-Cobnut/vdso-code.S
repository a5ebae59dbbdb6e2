/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The library that programs have of the kernel (AT_SYSINFO_EHDR): the fast way into it. sysenter does
 * not tell its address and uses EBP for the stack pointer: so the sixth parameter is on the stack, and
 * below it what lret takes, which the microkernel executes on the way back (entry.S). All other ways
 * back lead behind the int, without these two words: Linux knows a call by sysenter as one that was
 * made there. So one that is to start again does so at the int, and one with a number that is no call
 * to the microkernel, as restart_syscall's 0, is made by it.
 */
#include <asm/unistd_32.h>
#include "vdso.h"

	.macro	return
	popl	%ebp
	.cfi_restore ebp
	.cfi_adjust_cfa_offset -4
	popl	%edx
	.cfi_restore edx
	.cfi_adjust_cfa_offset -4
	popl	%ecx
	.cfi_restore ecx
	.cfi_adjust_cfa_offset -4
	ret
	.endm

	.text
	.globl	__kernel_vsyscall
	.type	__kernel_vsyscall, @function
__kernel_vsyscall:
	.cfi_startproc
	pushl	%ecx
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset ecx, 0
	pushl	%edx
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset edx, 0
	pushl	%ebp
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset ebp, 0
	leal	-1(%eax), %ebp
	cmpl	$MOST_CALLS - 1, %ebp
	.org	__kernel_vsyscall + VDSO_BRANCH - VDSO_ENTRY, 0x90
	jae	.Lby_int
	.cfi_remember_state
	.cfi_remember_state
	.cfi_remember_state
	pushl	%cs
	.cfi_adjust_cfa_offset 4
	call	.Lby_sysenter
	.cfi_restore_state
	return
.Lby_sysenter:
	.cfi_restore_state
	.cfi_adjust_cfa_offset VDSO_FRAME
	movl	%esp, %ebp
	.org	__kernel_vsyscall + VDSO_SYSENTER - VDSO_ENTRY, 0x90
	sysenter
	.org	__kernel_vsyscall + VDSO_LRET - VDSO_ENTRY, 0x90
	lret
.Lby_int:
	.cfi_restore_state
	movl	(%esp), %ebp
	int	$0x80
	.org	__kernel_vsyscall + VDSO_BACK - VDSO_ENTRY, 0x90
	return
	.cfi_endproc
	.size	__kernel_vsyscall, . - __kernel_vsyscall

	.balign	16
	.globl	__kernel_sigreturn
	.type	__kernel_sigreturn, @function
__kernel_sigreturn:
	popl	%eax
	movl	$__NR_sigreturn, %eax
	int	$0x80
	nop
	.size	__kernel_sigreturn, . - __kernel_sigreturn

	.balign	16
	.globl	__kernel_rt_sigreturn
	.type	__kernel_rt_sigreturn, @function
__kernel_rt_sigreturn:
	movl	$__NR_rt_sigreturn, %eax
	int	$0x80
	nop
	.size	__kernel_rt_sigreturn, . - __kernel_rt_sigreturn
	.section .note.GNU-stack, "", @progbits
