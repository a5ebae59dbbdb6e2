/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page in every process's space with the work that a thread has to do itself, since only the running
 * thread's coprocessor and segment registers can be reached. Each piece ends in a system call that is
 * none of Linux's, which returns the thread to the server.
 */
#include "stub.h"

	.section .rodata
	.balign	4096
	.globl	stub_page
stub_page:
	/* EAX: selector for GS, or FS; the other gets what has no segment. ECX: 0 */
	.org	STUB_LOAD_GS
	movl	%eax, %gs
	movl	%ecx, %fs
	int	$STUB_DONE
	.org	STUB_LOAD_FS
	movl	%eax, %fs
	movl	%ecx, %gs
	int	$STUB_DONE
	/* ECX: 512 bytes, aligned to 16 */
	.org	STUB_FXSAVE
	fxsave	(%ecx)
	int	$STUB_DONE
	.org	STUB_FXRSTOR
	fxrstor	(%ecx)
	int	$STUB_DONE
	/* ECX: 108 bytes */
	.org	STUB_FSAVE
	fnsave	(%ecx)
	frstor	(%ecx)
	int	$STUB_DONE
	.org	STUB_FRSTOR
	frstor	(%ecx)
	int	$STUB_DONE
	/* ECX: four addresses and the control word. Off first: one of them may be only half there. */
	.org	STUB_BREAKPOINTS
	xorl	%eax, %eax
	movl	%eax, %dr7
	movl	(%ecx), %eax
	movl	%eax, %dr0
	movl	4(%ecx), %eax
	movl	%eax, %dr1
	movl	8(%ecx), %eax
	movl	%eax, %dr2
	movl	12(%ecx), %eax
	movl	%eax, %dr3
	movl	16(%ecx), %eax
	movl	%eax, %dr7
	int	$STUB_DONE
	/* EAX becomes the status, which is cleared */
	.org	STUB_STATUS
	movl	%dr6, %eax
	xorl	%ecx, %ecx
	movl	%ecx, %dr6
	int	$STUB_DONE
	.org	4096
	.section .note.GNU-stack, "", @progbits
