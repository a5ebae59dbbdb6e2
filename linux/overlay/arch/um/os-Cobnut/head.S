/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where root starts the server's main thread, on a stack of root's: above it what root says about
 * the machine (server.h).
 */
	.section .init.text, "ax"
	.globl	_start
_start:
	xorl	%ebp, %ebp
	movl	%esp, %eax
	andl	$-16, %esp
	subl	$12, %esp
	pushl	%eax
	call	cobnut_start
1:	jmp	1b
	.section .note.GNU-stack, "", @progbits
