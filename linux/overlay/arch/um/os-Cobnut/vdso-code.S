/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The library that programs have of the kernel (AT_SYSINFO_EHDR): the fast way into it. sysenter does
 * not tell its address and uses EBP for the stack pointer: so the sixth parameter is on the stack,
 * and the call returns behind the int; a call that is to start again does so at the int, and one with
 * a number that Linux does not have is made by it.
 */
#include <asm/unistd_32.h>
#include "vdso.h"

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
	cmpl	$MOST_CALLS, %eax
	jae	.Lby_int
	.org	__kernel_vsyscall + VDSO_SYSENTER - VDSO_ENTRY, 0x90
	movl	%esp, %ebp
	sysenter
.Lby_int:
	int	$0x80
	.org	__kernel_vsyscall + VDSO_BACK - VDSO_ENTRY, 0x90
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
