// SPDX-License-Identifier: BSD-2-Clause
// System calls on IA-32 (manual appendix A): two assembly wrappers through which all of them go, and which parameter
// travels in which register.
//
// The wrappers are out of line, in user/lib/ia32/syscall.S: Ipc and ExchangeRegisters return values in EBP, which no
// compiler lets inline assembly promise. They find the kernel interface page by `lock nop` once per thread and keep
// its address in ThreadWord1, so that one program image can run in spaces that have the page at different places.
#ifndef L4_IA32_H
#define L4_IA32_H
#include <l4/arch.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The registers of a system call in the order of the manual's tables; in and out.
typedef struct {
    L4_Word_t eax, ecx, edx, esi, edi, ebx, ebp;
} L4_Registers_t;

/// Calls the kernel interface page's stub whose entry offset is stored at byte `field` of the page, with exactly
/// these registers, and stores all of them back.
void __L4_Call_Stub(L4_Word_t field, L4_Registers_t *regs);
/// The same with the entry's address itself; touches no memory but the stack and *regs.
void __L4_Call_Entry(L4_Word_t entry, L4_Registers_t *regs);

/// The Ipc or Lipc system call: MR0 is taken from the UTCB, MR0..MR2 are put back there.
/// Returns MR0 (the tag); *from is written if `from` is not null.
L4_Word_t __L4_Ipc_Stub(L4_Word_t to, L4_Word_t from_specifier, L4_Word_t timeouts, L4_Word_t *from, L4_Word_t field);

/// The address of the kernel interface page in the caller's space.
L4_Word_t __L4_Kip_Base(void);

#ifdef __cplusplus
}
#endif

/// The caller's UTCB.
L4_INLINE volatile L4_Word_t *__L4_Utcb(void)
{
    volatile L4_Word_t *utcb;
    __asm__("mov %%gs:0, %0" : "=r"(utcb));
    return utcb;
}

/// `v`: control, SP, IP, FLAGS, handle, pager; in and out.
L4_INLINE L4_Word_t __L4_Raw_ExchangeRegisters(L4_Word_t dest, L4_Word_t v[6])
{
    L4_Registers_t r = {dest, v[0], v[1], v[2], v[3], v[4], v[5]};
    __L4_Call_Stub(L4_KIP_EXCHANGE_REGISTERS, &r);
    v[0] = r.ecx, v[1] = r.edx, v[2] = r.esi, v[3] = r.edi, v[4] = r.ebx, v[5] = r.ebp;
    return r.eax;
}
L4_INLINE L4_Word_t __L4_Raw_ThreadControl(L4_Word_t dest, L4_Word_t space, L4_Word_t scheduler, L4_Word_t pager,
                                           L4_Word_t utcb)
{
    L4_Registers_t r = {dest, pager, scheduler, space, utcb, 0, 0};
    __L4_Call_Stub(L4_KIP_THREAD_CONTROL, &r);
    return r.eax;
}
L4_INLINE void __L4_Raw_SystemClock(L4_Word_t *low, L4_Word_t *high)
{
    L4_Registers_t r = {0, 0, 0, 0, 0, 0, 0};
    __L4_Call_Stub(L4_KIP_SYSTEM_CLOCK, &r);
    *low = r.eax, *high = r.edx;
}
L4_INLINE void __L4_Raw_ThreadSwitch(L4_Word_t dest)
{
    L4_Registers_t r = {dest, 0, 0, 0, 0, 0, 0};
    __L4_Call_Stub(L4_KIP_THREAD_SWITCH, &r);
}
/// *time in and out.
L4_INLINE L4_Word_t __L4_Raw_Schedule(L4_Word_t dest, L4_Word_t *time, L4_Word_t processor, L4_Word_t priority,
                                      L4_Word_t preemption)
{
    L4_Registers_t r = {dest, priority, *time, processor, preemption, 0, 0};
    __L4_Call_Stub(L4_KIP_SCHEDULE, &r);
    *time = r.edx;
    return r.eax;
}
/// The fpages are in MR0 and behind, in and out. `whose` matters with bit 7 of the control word (cobnut/control.h).
L4_INLINE void __L4_Raw_Unmap(L4_Word_t control, L4_Word_t whose)
{
    volatile L4_Word_t *utcb = __L4_Utcb();
    L4_Registers_t r = {control, whose, 0, utcb[0], (L4_Word_t)utcb, 0, 0};
    __L4_Call_Stub(L4_KIP_UNMAP, &r);
    utcb[0] = r.esi;
}
/// *control in and out; *utcb: where the UTCB area is wanted, and where it is.
L4_INLINE L4_Word_t __L4_Raw_SpaceControl(L4_Word_t space, L4_Word_t *control, L4_Word_t kip, L4_Word_t *utcb,
                                          L4_Word_t redirector)
{
    L4_Registers_t r = {space, *control, kip, *utcb, redirector, 0, 0};
    __L4_Call_Stub(L4_KIP_SPACE_CONTROL, &r);
    *control = r.ecx;
    return r.eax;
}
L4_INLINE L4_Word_t __L4_Raw_ProcessorControl(L4_Word_t cpu, L4_Word_t internal, L4_Word_t external, L4_Word_t voltage)
{
    L4_Registers_t r = {cpu, internal, external, voltage, 0, 0, 0};
    __L4_Call_Stub(L4_KIP_PROCESSOR_CONTROL, &r);
    return r.eax;
}
L4_INLINE L4_Word_t __L4_Raw_MemoryControl(L4_Word_t control, const L4_Word_t attributes[4])
{
    volatile L4_Word_t *utcb = __L4_Utcb();
    L4_Registers_t r = {control, attributes[0], attributes[1], utcb[0], (L4_Word_t)utcb, attributes[2], attributes[3]};
    __L4_Call_Stub(L4_KIP_MEMORY_CONTROL, &r);
    return r.eax;
}
L4_INLINE void *__L4_Raw_KernelInterface(L4_Word_t *version, L4_Word_t *flags, L4_Word_t *id)
{
    void *base;
    __asm__ __volatile__("lock; nop" : "=a"(base), "=c"(*version), "=d"(*flags), "=S"(*id));
    return base;
}

// Calls of the debug console: INT3 and a compare instruction that names the request (Pistachio's convention).
#define __L4_KDB_PRINT_CHAR 0x00
#define __L4_KDB_PRINT_STRING 0x01
#define __L4_KDB_READ_CHAR 0x08
#define __L4_KDB_READ_CHAR_BLOCKED 0x0D
/// `word` in and out.
#define __L4_KDB(request, word) __asm__ __volatile__("int3; cmpb %1, %%al" : "+a"(word) : "i"(request) : "cc", "memory")
/// Cobnut's own.
#define __L4_KDB_GET_AUDIT(faults, pages, objects, unused)                                                             \
    __asm__ __volatile__("int3; .byte 0x3C, 0x40"                                                                      \
                         : "=a"(faults), "=c"(pages), "=d"(objects), "=S"(unused)                                      \
                         :                                                                                             \
                         : "memor"                                                                                     \
                           "y")
#define __L4_KDB_ENTER(text)                                                                                           \
    __asm__ __volatile__("int3; jmp 1f; movl %0, %%eax; 1:" : : "i"(text) : "eax", "cc", "memory")

#endif
