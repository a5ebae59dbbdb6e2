/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks that a guest leaves for the laboratory: a no-op that no compiler makes, with a kind and a value in two
 * registers. On a machine without the laboratory's plugin they do nothing. Usable from C, C++ and assembly.
 *
 *              no-op               kind   value
 *   IA-32      xchg %cx,%cx        EAX    EDX
 *   ARM        mov r12,r12         R0     R1 */
#ifndef COBNUT_LAB_H
#define COBNUT_LAB_H

#define COBNUT_LAB_BEGIN 0xC0B00001 /* start of the case whose number is the value */
#define COBNUT_LAB_ITER 0xC0B00002  /* one round trip ends here, the next begins; the first starts the first */
#define COBNUT_LAB_END 0xC0B00003   /* end of the case whose number is the value */

#ifdef __ASSEMBLER__
/* Expects the two registers to be loaded. */
.macro COBNUT_LAB_MARK
#ifdef __arm__
        mov     r12, r12
#else
        .byte   0x66, 0x87, 0xC9
#endif
.endm
#else
static inline void cobnut_lab_mark(unsigned kind, unsigned value)
{
#ifdef __arm__
    register unsigned r0 __asm__("r0") = kind, r1 __asm__("r1") = value;
    __asm__ __volatile__("mov r12, r12" : : "r"(r0), "r"(r1) : "memory");
#else
    __asm__ __volatile__(".byte 0x66, 0x87, 0xC9" : : "a"(kind), "d"(value) : "memory");
#endif
}
#endif
#endif
