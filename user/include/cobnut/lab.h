/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks that a guest leaves for the laboratory: the no-op `xchg %cx,%cx` with EAX = kind and EDX = value. On a machine
 * without the laboratory's plugin they do nothing. Usable from C, C++ and assembly. */
#ifndef COBNUT_LAB_H
#define COBNUT_LAB_H

#define COBNUT_LAB_BEGIN 0xC0B00001 /* start of the case whose number is in EDX */
#define COBNUT_LAB_ITER 0xC0B00002  /* one round trip ends here, the next begins; the first starts the first */
#define COBNUT_LAB_END 0xC0B00003   /* end of the case in EDX */

#ifdef __ASSEMBLER__
/* Expects EAX and EDX to be loaded. */
.macro COBNUT_LAB_MARK
        .byte   0x66, 0x87, 0xC9
.endm
#else
static inline void cobnut_lab_mark(unsigned kind, unsigned value)
{
    __asm__ __volatile__(".byte 0x66, 0x87, 0xC9" : : "a"(kind), "d"(value) : "memory");
}
#endif
#endif
