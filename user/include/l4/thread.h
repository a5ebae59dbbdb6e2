// SPDX-License-Identifier: BSD-2-Clause
// Threads: thread control registers, ExchangeRegisters, ThreadControl (manual 2.2 to 2.4).
#ifndef L4_THREAD_H
#define L4_THREAD_H
#include <l4/arch.h>

// ---------------------------------------------------------------------------------- thread control registers (2.2)
/// The caller's ids; Myself is the global one.
L4_INLINE L4_ThreadId_t L4_MyGlobalId(void) { return L4_RAW_(L4_ThreadId_t, __L4_Utcb()[L4_UTCB_MY_GLOBAL_ID]); }
L4_INLINE L4_ThreadId_t L4_MyLocalId(void) { return L4_RAW_(L4_ThreadId_t, (L4_Word_t)__L4_Utcb()); }
L4_INLINE L4_ThreadId_t L4_Myself(void) { return L4_MyGlobalId(); }
/// The processor that the thread runs on: an index for L4_ProcDesc.
L4_INLINE int L4_ProcessorNo(void) { return (int)__L4_Utcb()[L4_UTCB_PROCESSOR_NO]; }
/// A word for the program's own use.
L4_INLINE L4_Word_t L4_UserDefinedHandle(void) { return __L4_Utcb()[L4_UTCB_USER_DEFINED_HANDLE]; }
L4_INLINE void L4_Set_UserDefinedHandle(L4_Word_t w) { __L4_Utcb()[L4_UTCB_USER_DEFINED_HANDLE] = w; }
/// The threads that get the caller's page faults and its exceptions (nil: none, an exception halts it).
L4_INLINE L4_ThreadId_t L4_Pager(void) { return L4_RAW_(L4_ThreadId_t, __L4_Utcb()[L4_UTCB_PAGER]); }
L4_INLINE void L4_Set_Pager(L4_ThreadId_t t) { __L4_Utcb()[L4_UTCB_PAGER] = t.raw; }
L4_INLINE L4_ThreadId_t L4_ExceptionHandler(void)
{
    return L4_RAW_(L4_ThreadId_t, __L4_Utcb()[L4_UTCB_EXCEPTION_HANDLER]);
}
L4_INLINE void L4_Set_ExceptionHandler(L4_ThreadId_t t) { __L4_Utcb()[L4_UTCB_EXCEPTION_HANDLER] = t.raw; }

/// Valid only after a system call failed: L4_Err*, or for Ipc phase | code << 1 | offset << 4 (5.6 of the manual).
L4_INLINE L4_Word_t L4_ErrorCode(void) { return __L4_Utcb()[L4_UTCB_ERROR_CODE]; }
/// Bounds for transfers with page faults, as L4_Timeouts makes them (5.6).
L4_INLINE L4_Word_t L4_XferTimeouts(void) { return __L4_Utcb()[L4_UTCB_XFER_TIMEOUTS]; }
L4_INLINE void L4_Set_XferTimeouts(L4_Word_t w) { __L4_Utcb()[L4_UTCB_XFER_TIMEOUTS] = w; }
/// The addressee of a redirected message. The actual sender of a propagated one. The thread in whose name the next one
/// is sent.
L4_INLINE L4_ThreadId_t L4_IntendedReceiver(void)
{
    return L4_RAW_(L4_ThreadId_t, __L4_Utcb()[L4_UTCB_INTENDED_RECEIVER]);
}
L4_INLINE L4_ThreadId_t L4_ActualSender(void) { return L4_RAW_(L4_ThreadId_t, __L4_Utcb()[L4_UTCB_VIRTUAL_SENDER]); }
L4_INLINE void L4_Set_VirtualSender(L4_ThreadId_t t) { __L4_Utcb()[L4_UTCB_VIRTUAL_SENDER] = t.raw; }

/// Coprocessor flag n (0..7): set = the thread may use it. Write-only.
L4_INLINE void __L4_CopFlag(L4_Word_t n, L4_Bool_t on)
{
    volatile unsigned char *flags = (volatile unsigned char *)(__L4_Utcb() + L4_UTCB_FLAGS) + 1;
    *flags = (unsigned char)(on ? *flags | (1u << n) : *flags & ~(1u << n));
}
L4_INLINE void L4_Set_CopFlag(L4_Word_t n) { __L4_CopFlag(n, 1); }
L4_INLINE void L4_Clr_CopFlag(L4_Word_t n) { __L4_CopFlag(n, 0); }

// ---------------------------------------------------------------------------------------- ExchangeRegisters (2.3)
enum {
    L4_EXREGS_HALT = 0x001,
    L4_EXREGS_RECV = 0x002,
    L4_EXREGS_SEND = 0x004,
    L4_EXREGS_SP = 0x008,
    L4_EXREGS_IP = 0x010,
    L4_EXREGS_FLAGS = 0x020,
    L4_EXREGS_HANDLE = 0x040,
    L4_EXREGS_PAGER = 0x080,
    L4_EXREGS_SETHALT = 0x100,
    L4_EXREGS_DELIVER = 0x200,
};

/// Reads and changes the registers of a thread of the caller's space. Returns its local id if dest was global and
/// the other way round; nilthread with ErrorCode 2 on failure. Each old_* may be null.
L4_INLINE L4_ThreadId_t L4_ExchangeRegisters(L4_ThreadId_t dest, L4_Word_t control, L4_Word_t sp, L4_Word_t ip,
                                             L4_Word_t flags, L4_Word_t handle, L4_ThreadId_t pager,
                                             L4_Word_t *old_control, L4_Word_t *old_sp, L4_Word_t *old_ip,
                                             L4_Word_t *old_flags, L4_Word_t *old_handle, L4_ThreadId_t *old_pager)
{
    L4_Word_t v[6] = {control, sp, ip, flags, handle, pager.raw};
    L4_Word_t other_id = __L4_Raw_ExchangeRegisters(dest.raw, v);
    if (old_control) *old_control = v[0];
    if (old_sp) *old_sp = v[1];
    if (old_ip) *old_ip = v[2];
    if (old_flags) *old_flags = v[3];
    if (old_handle) *old_handle = v[4];
    if (old_pager) old_pager->raw = v[5];
    return L4_RAW_(L4_ThreadId_t, other_id);
}

/// ExchangeRegisters without interest in old values except the control word.
L4_INLINE L4_Word_t __L4_Exregs(L4_ThreadId_t t, L4_Word_t control, L4_Word_t sp, L4_Word_t ip, L4_Word_t flags)
{
    L4_Word_t old = 0;
    (void)L4_ExchangeRegisters(t, control, sp, ip, flags, 0, L4_nilthread, &old, 0, 0, 0, 0, 0);
    return old;
}

/// Global id of a thread of the own space, given either of its ids; nilthread if it has none.
L4_INLINE L4_ThreadId_t L4_GlobalIdOf(L4_ThreadId_t t)
{
    if (L4_IsNilThread(t) || L4_IsGlobalId(t)) return t;
    return L4_ExchangeRegisters(t, 0, 0, 0, 0, 0, L4_nilthread, 0, 0, 0, 0, 0, 0);
}
/// Local id of a thread of the own space, given either of its ids; nilthread if it has none.
L4_INLINE L4_ThreadId_t L4_LocalIdOf(L4_ThreadId_t t)
{
    if (L4_IsNilThread(t) || L4_IsLocalId(t)) return t;
    return L4_ExchangeRegisters(t, 0, 0, 0, 0, 0, L4_nilthread, 0, 0, 0, 0, 0, 0);
}
/// Whether two ids, local or global, name the same thread of the own space.
L4_INLINE L4_Bool_t L4_SameThreads(L4_ThreadId_t a, L4_ThreadId_t b)
{
    return L4_GlobalIdOf(a).raw == L4_GlobalIdOf(b).raw;
}
/// Handle and pager of a thread of the own space.
L4_INLINE L4_Word_t L4_UserDefinedHandleOf(L4_ThreadId_t t)
{
    L4_Word_t handle = 0;
    (void)L4_ExchangeRegisters(t, 0x200, 0, 0, 0, 0, L4_nilthread, 0, 0, 0, 0, &handle, 0);
    return handle;
}
L4_INLINE void L4_Set_UserDefinedHandleOf(L4_ThreadId_t t, L4_Word_t handle)
{
    (void)L4_ExchangeRegisters(t, 0x040, 0, 0, 0, handle, L4_nilthread, 0, 0, 0, 0, 0, 0);
}
L4_INLINE L4_ThreadId_t L4_PagerOf(L4_ThreadId_t t)
{
    L4_ThreadId_t pager = L4_nilthread;
    (void)L4_ExchangeRegisters(t, 0x200, 0, 0, 0, 0, L4_nilthread, 0, 0, 0, 0, 0, &pager);
    return pager;
}
L4_INLINE void L4_Set_PagerOf(L4_ThreadId_t t, L4_ThreadId_t pager)
{
    (void)L4_ExchangeRegisters(t, 0x080, 0, 0, 0, 0, pager, 0, 0, 0, 0, 0, 0);
}

/// Cancels or aborts the thread's IPC and resumes it if it was halted; the other forms set SP and IP (and FLAGS) first.
L4_INLINE void L4_Start(L4_ThreadId_t t) { (void)__L4_Exregs(t, 0x106, 0, 0, 0); }
L4_INLINE void L4_Start_SpIp(L4_ThreadId_t t, L4_Word_t sp, L4_Word_t ip) { (void)__L4_Exregs(t, 0x11E, sp, ip, 0); }
L4_INLINE void L4_Start_SpIpFlags(L4_ThreadId_t t, L4_Word_t sp, L4_Word_t ip, L4_Word_t flags)
{
    (void)__L4_Exregs(t, 0x13E, sp, ip, flags);
}

#define L4_STOP_FUNCTIONS_(name, control)                                                                              \
    L4_INLINE L4_ThreadState_t L4_##name(L4_ThreadId_t t)                                                              \
    {                                                                                                                  \
        return L4_RAW_(L4_ThreadState_t, __L4_Exregs(t, control, 0, 0, 0));                                            \
    }                                                                                                                  \
    L4_INLINE L4_ThreadState_t L4_##name##_SpIpFlags(L4_ThreadId_t t, L4_Word_t *sp, L4_Word_t *ip, L4_Word_t *flags)  \
    {                                                                                                                  \
        L4_Word_t old = 0;                                                                                             \
        (void)L4_ExchangeRegisters(t, control, 0, 0, 0, 0, L4_nilthread, &old, sp, ip, flags, 0, 0);                   \
        return L4_RAW_(L4_ThreadState_t, old);                                                                         \
    }
/// Stop halts the thread before its next user instruction; the others also abort the named phases of its IPC. All
/// return what the thread was doing; the _SpIpFlags forms deliver its registers.
L4_STOP_FUNCTIONS_(Stop, 0x301)
L4_STOP_FUNCTIONS_(AbortReceive_and_stop, 0x303)
L4_STOP_FUNCTIONS_(AbortSend_and_stop, 0x305)
L4_STOP_FUNCTIONS_(AbortIpc_and_stop, 0x307)
#undef L4_STOP_FUNCTIONS_

/// What L4_Stop and its relatives saw.
L4_INLINE L4_Bool_t L4_ThreadWasHalted(L4_ThreadState_t s) { return s.raw & 1u; }
L4_INLINE L4_Bool_t L4_ThreadWasReceiving(L4_ThreadState_t s) { return s.raw & 2u; }
L4_INLINE L4_Bool_t L4_ThreadWasSending(L4_ThreadState_t s) { return s.raw & 4u; }
L4_INLINE L4_Bool_t L4_ThreadWasIpcing(L4_ThreadState_t s) { return s.raw & 6u; }

// -------------------------------------------------------------------------------------------- ThreadControl (2.4)
/// Creates, activates, changes or deletes (space nil) the thread with dest's number; privileged. Utcb -1 leaves the
/// UTCB location alone. Returns 1, or 0 with ErrorCode 1, 2, 3, 4, 6 or 8.
L4_INLINE L4_Word_t L4_ThreadControl(L4_ThreadId_t dest, L4_ThreadId_t space, L4_ThreadId_t scheduler,
                                     L4_ThreadId_t pager, void *utcb)
{
    return __L4_Raw_ThreadControl(dest.raw, space.raw, scheduler.raw, pager.raw, (L4_Word_t)utcb);
}

/// Makes `handler` receive the interrupts of the interrupt thread `irq` (number = line, version 1); privileged.
L4_INLINE L4_Word_t L4_AssociateInterrupt(L4_ThreadId_t irq, L4_ThreadId_t handler)
{
    return L4_ThreadControl(irq, irq, L4_nilthread, handler, (void *)-1);
}
/// Takes the interrupts of `irq` from its handler; privileged.
L4_INLINE L4_Word_t L4_DeassociateInterrupt(L4_ThreadId_t irq)
{
    return L4_ThreadControl(irq, irq, L4_nilthread, irq, (void *)-1);
}

#ifdef __cplusplus
L4_INLINE L4_ThreadId_t L4_GlobalId(L4_ThreadId_t t) { return L4_GlobalIdOf(t); }
L4_INLINE L4_ThreadId_t L4_LocalId(L4_ThreadId_t t) { return L4_LocalIdOf(t); }
L4_INLINE L4_Word_t L4_UserDefinedHandle(L4_ThreadId_t t) { return L4_UserDefinedHandleOf(t); }
L4_INLINE void L4_Set_UserDefinedHandle(L4_ThreadId_t t, L4_Word_t h) { L4_Set_UserDefinedHandleOf(t, h); }
L4_INLINE L4_ThreadId_t L4_Pager(L4_ThreadId_t t) { return L4_PagerOf(t); }
L4_INLINE void L4_Set_Pager(L4_ThreadId_t t, L4_ThreadId_t pager) { L4_Set_PagerOf(t, pager); }
L4_INLINE void L4_Start(L4_ThreadId_t t, L4_Word_t sp, L4_Word_t ip) { L4_Start_SpIp(t, sp, ip); }
L4_INLINE void L4_Start(L4_ThreadId_t t, L4_Word_t sp, L4_Word_t ip, L4_Word_t flags)
{
    L4_Start_SpIpFlags(t, sp, ip, flags);
}
L4_INLINE L4_ThreadId_t L4_ExchangeRegisters(L4_ThreadId_t dest, L4_Word_t control, L4_Word_t sp, L4_Word_t ip,
                                             L4_Word_t flags, L4_Word_t handle, L4_ThreadId_t pager,
                                             L4_Word_t &old_control, L4_Word_t &old_sp, L4_Word_t &old_ip,
                                             L4_Word_t &old_flags, L4_Word_t &old_handle, L4_ThreadId_t &old_pager)
{
    return L4_ExchangeRegisters(dest, control, sp, ip, flags, handle, pager, &old_control, &old_sp, &old_ip, &old_flags,
                                &old_handle, &old_pager);
}
#define L4_STOP_OVERLOADS_(name)                                                                                       \
    L4_INLINE L4_ThreadState_t L4_##name(L4_ThreadId_t t, L4_Word_t *sp, L4_Word_t *ip, L4_Word_t *flags)              \
    {                                                                                                                  \
        return L4_##name##_SpIpFlags(t, sp, ip, flags);                                                                \
    }                                                                                                                  \
    L4_INLINE L4_ThreadState_t L4_##name(L4_ThreadId_t t, L4_Word_t &sp, L4_Word_t &ip, L4_Word_t &flags)              \
    {                                                                                                                  \
        return L4_##name##_SpIpFlags(t, &sp, &ip, &flags);                                                             \
    }
L4_STOP_OVERLOADS_(Stop)
L4_STOP_OVERLOADS_(AbortReceive_and_stop)
L4_STOP_OVERLOADS_(AbortSend_and_stop)
L4_STOP_OVERLOADS_(AbortIpc_and_stop)
#undef L4_STOP_OVERLOADS_
#endif

#endif
