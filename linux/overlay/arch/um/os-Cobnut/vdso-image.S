/* SPDX-License-Identifier: GPL-2.0 */
	.section .init.rodata, "a"
	.globl	vdso_start, vdso_end
vdso_start:
	.incbin	"arch/um/os-Cobnut/vdso.so"
vdso_end:
	.section .note.GNU-stack, "", @progbits
