// SPDX-License-Identifier: BSD-2-Clause
// System calls on ARM (docs/x2-arm.md): two assembly wrappers through which all of them go (user/lib/arm/syscall.S),
// and which parameter travels in which register.
#ifndef L4_ARM_H
#define L4_ARM_H
#include <l4/arch.h>

#ifdef __cplusplus
extern "C" {
#endif

/// R0 to R7; in and out.
typedef struct {
    L4_Word_t r[8];
} L4_Registers_t;

/// Calls the kernel interface page's stub whose entry offset is stored at byte `field` of the page, with exactly
/// these registers, and stores all of them back.
void __L4_Call_Stub(L4_Word_t field, L4_Registers_t *regs);

/// The Ipc or Lipc system call: MR0 to MR4 are taken from the UTCB and put back there.
/// Returns MR0 (the tag); *from is written if `from` is not null.
L4_Word_t __L4_Ipc_Stub(L4_Word_t to, L4_Word_t from_specifier, L4_Word_t timeouts, L4_Word_t *from, L4_Word_t field);

/// The address of the kernel interface page in the caller's space.
L4_Word_t __L4_Kip_Base(void);

#ifdef __cplusplus
}
#endif

/// The caller's UTCB: its address is in a word that the kernel shows to all.
L4_INLINE volatile L4_Word_t *__L4_Utcb(void) { return *(volatile L4_Word_t *const volatile *)0xFF000000u; }

/// `v`: control, SP, IP, FLAGS, handle, pager; in and out.
L4_INLINE L4_Word_t __L4_Raw_ExchangeRegisters(L4_Word_t dest, L4_Word_t v[6])
{
    L4_Registers_t r = {{dest, v[0], v[1], v[2], v[3], v[4], v[5], 0}};
    __L4_Call_Stub(L4_KIP_EXCHANGE_REGISTERS, &r);
    for (int i = 0; i < 6; i++) v[i] = r.r[1 + i];
    return r.r[0];
}
L4_INLINE L4_Word_t __L4_Raw_ThreadControl(L4_Word_t dest, L4_Word_t space, L4_Word_t scheduler, L4_Word_t pager,
                                           L4_Word_t utcb)
{
    L4_Registers_t r = {{dest, space, scheduler, pager, utcb, 0, 0, 0}};
    __L4_Call_Stub(L4_KIP_THREAD_CONTROL, &r);
    return r.r[0];
}
L4_INLINE void __L4_Raw_SystemClock(L4_Word_t *low, L4_Word_t *high)
{
    L4_Registers_t r = {{0, 0, 0, 0, 0, 0, 0, 0}};
    __L4_Call_Stub(L4_KIP_SYSTEM_CLOCK, &r);
    *low = r.r[0], *high = r.r[1];
}
L4_INLINE void __L4_Raw_ThreadSwitch(L4_Word_t dest)
{
    L4_Registers_t r = {{dest, 0, 0, 0, 0, 0, 0, 0}};
    __L4_Call_Stub(L4_KIP_THREAD_SWITCH, &r);
}
/// *time in and out.
L4_INLINE L4_Word_t __L4_Raw_Schedule(L4_Word_t dest, L4_Word_t *time, L4_Word_t processor, L4_Word_t priority,
                                      L4_Word_t preemption)
{
    L4_Registers_t r = {{dest, *time, processor, priority, preemption, 0, 0, 0}};
    __L4_Call_Stub(L4_KIP_SCHEDULE, &r);
    *time = r.r[1];
    return r.r[0];
}
/// The fpages are in MR0 and behind, in and out. `whose` matters with bit 7 of the control word (cobnut/control.h).
L4_INLINE void __L4_Raw_Unmap(L4_Word_t control, L4_Word_t whose)
{
    volatile L4_Word_t *utcb = __L4_Utcb();
    L4_Registers_t r = {{control, whose, 0, utcb[0], utcb[1], utcb[2], utcb[3], utcb[4]}};
    __L4_Call_Stub(L4_KIP_UNMAP, &r);
    for (int i = 0; i < 5; i++) utcb[i] = r.r[3 + i];
}
/// *control in and out; *utcb: where the UTCB area is wanted (its size counts), and where it is.
L4_INLINE L4_Word_t __L4_Raw_SpaceControl(L4_Word_t space, L4_Word_t *control, L4_Word_t kip, L4_Word_t *utcb,
                                          L4_Word_t redirector)
{
    L4_Registers_t r = {{space, *control, kip, *utcb, redirector, 0, 0, 0}};
    __L4_Call_Stub(L4_KIP_SPACE_CONTROL, &r);
    *control = r.r[1], *utcb = r.r[2];
    return r.r[0];
}
L4_INLINE L4_Word_t __L4_Raw_ProcessorControl(L4_Word_t cpu, L4_Word_t internal, L4_Word_t external, L4_Word_t voltage)
{
    L4_Registers_t r = {{cpu, internal, external, voltage, 0, 0, 0, 0}};
    __L4_Call_Stub(L4_KIP_PROCESSOR_CONTROL, &r);
    return r.r[0];
}
L4_INLINE L4_Word_t __L4_Raw_MemoryControl(L4_Word_t control, const L4_Word_t attributes[4])
{
    L4_Registers_t r = {{control, attributes[0], attributes[1], attributes[2], attributes[3], 0, 0, 0}};
    __L4_Call_Stub(L4_KIP_MEMORY_CONTROL, &r);
    return r.r[0];
}
/// KernelInterface is a jump to an address of its own.
L4_INLINE void *__L4_Raw_KernelInterface(L4_Word_t *version, L4_Word_t *flags, L4_Word_t *id)
{
    register L4_Word_t r0 __asm__("r0"), r1 __asm__("r1"), r2 __asm__("r2"), r3 __asm__("r3");
    __asm__ __volatile__("mov lr, pc\n\tmvn pc, #0x4B" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : : "lr");
    *version = r1, *flags = r2, *id = r3;
    return (void *)r0;
}

// Calls of the debug console are such jumps, too.
#define __L4_KDB_PRINT_CHAR 0x60
#define __L4_KDB_PRINT_STRING 0x64
#define __L4_KDB_READ_CHAR 0x68
#define __L4_KDB_READ_CHAR_BLOCKED 0x6C
#define __L4_KDB_AUDIT 0x70
#define __L4_KDB_END 0x74
/// `word` in and out.
#define __L4_KDB(request, word)                                                                                        \
    do {                                                                                                               \
        register L4_Word_t __r0 __asm__("r0") = (word);                                                                \
        __asm__ __volatile__("mov lr, pc\n\tmvn pc, %1" : "+r"(__r0) : "i"(0xFF - (request)) : "lr", "memory");        \
        (word) = __r0;                                                                                                 \
    } while (0)
#define __L4_KDB_GET_AUDIT(faults, pages, objects, unused)                                                             \
    do {                                                                                                               \
        register L4_Word_t __r0 __asm__("r0"), __r1 __asm__("r1"), __r2 __asm__("r2"), __r3 __asm__("r3");             \
        __asm__ __volatile__("mov lr, pc\n\tmvn pc, %4"                                                                \
                             : "=r"(__r0), "=r"(__r1), "=r"(__r2), "=r"(__r3)                                          \
                             : "i"(0xFF - __L4_KDB_AUDIT)                                                              \
                             : "lr", "memory");                                                                        \
        (faults) = __r0, (pages) = __r1, (objects) = __r2, (unused) = __r3;                                            \
    } while (0)
#define __L4_KDB_ENTER(text)                                                                                           \
    do {                                                                                                               \
        L4_Word_t __word = (L4_Word_t)(text);                                                                          \
        __L4_KDB(__L4_KDB_PRINT_STRING, __word);                                                                       \
        __word = '\n';                                                                                                 \
        __L4_KDB(__L4_KDB_PRINT_CHAR, __word);                                                                         \
    } while (0)

#endif
