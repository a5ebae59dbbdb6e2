// SPDX-License-Identifier: BSD-2-Clause
// Calls to the kernel's debug console. They need no privilege, and work in every space but controlled ones
// (cobnut/control.h).
#ifndef L4_KDEBUG_H
#define L4_KDEBUG_H
#include <l4/arch.h>

/// Enters the kernel debugger with a literal message; kernels without one print it and go on.
#define L4_KDB_Enter(message)                                                                                          \
    do {                                                                                                               \
        static const char __text[] = message;                                                                          \
        __L4_KDB_ENTER(__text);                                                                                        \
    } while (0)

L4_INLINE void L4_KDB_PrintChar(char c)
{
    L4_Word_t word = (unsigned char)c;
    __L4_KDB(__L4_KDB_PRINT_CHAR, word);
}
/// NUL-terminated. The kernel prints what is mapped and raises no page faults for it; so the text is read here first,
/// which does.
L4_INLINE void L4_KDB_PrintString(const char *s)
{
    L4_Word_t word = (L4_Word_t)s;
    const volatile char *touched = s;
    while (*touched) touched++;
    __L4_KDB(__L4_KDB_PRINT_STRING, word);
}
/// A character from the console, -1 if none is there; the blocking form waits; other threads run meanwhile.
L4_INLINE int L4_KDB_ReadChar(void)
{
    L4_Word_t c = 0;
    __L4_KDB(__L4_KDB_READ_CHAR, c);
    return (int)c;
}
L4_INLINE int L4_KDB_ReadChar_Blocked(void)
{
    L4_Word_t c = 0;
    __L4_KDB(__L4_KDB_READ_CHAR_BLOCKED, c);
    return (int)c;
}

#endif
