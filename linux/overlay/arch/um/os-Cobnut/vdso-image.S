/* SPDX-License-Identifier: GPL-2.0 */
/* Whole pages, which programs have (vdso.c). */
	.section .data..page_aligned, "aw"
	.balign	4096
	.globl	vdso_start, vdso_end
vdso_start:
	.incbin	"arch/um/os-Cobnut/vdso.so"
	.balign	4096
vdso_end:
	.section .note.GNU-stack, "", @progbits
