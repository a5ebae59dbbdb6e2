// SPDX-License-Identifier: BSD-2-Clause
// Calls to the kernel's debug console: INT3 and a compare instruction that names the request (Pistachio's
// convention). They work in every space and need no privilege.
#ifndef L4_KDEBUG_H
#define L4_KDEBUG_H
#include <l4/types.h>

/// Enters the kernel debugger with a literal message; kernels without one print it and go on.
#define L4_KDB_Enter(message)                                                                                      \
    do {                                                                                                           \
        static const char __text[] = message;                                                                      \
        __asm__ __volatile__("int3; jmp 1f; movl %0, %%eax; 1:" : : "i"(__text) : "eax", "cc", "memory");          \
    } while (0)

L4_INLINE void L4_KDB_PrintChar(char c)
{
    L4_Word_t word = (unsigned char)c;
    __asm__ __volatile__("int3; cmpb $0, %%al" : "+a"(word) : : "cc", "memory");
}
/// NUL-terminated; its pages must be mapped readable.
L4_INLINE void L4_KDB_PrintString(const char *s)
{
    L4_Word_t word = (L4_Word_t)s;
    __asm__ __volatile__("int3; cmpb $1, %%al" : "+a"(word) : : "cc", "memory");
}
/// A character from the console, -1 if none is there; the blocking form waits; other threads run meanwhile.
L4_INLINE int L4_KDB_ReadChar(void)
{
    int c;
    __asm__ __volatile__("int3; cmpb $8, %%al" : "=a"(c) : : "cc", "memory");
    return c;
}
L4_INLINE int L4_KDB_ReadChar_Blocked(void)
{
    int c;
    __asm__ __volatile__("int3; cmpb $0xD, %%al" : "=a"(c) : : "cc", "memory");
    return c;
}

#endif
