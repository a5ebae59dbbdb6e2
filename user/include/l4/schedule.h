// SPDX-License-Identifier: BSD-2-Clause
// Clock, thread switch, scheduling parameters (manual 3.3 to 3.5).
#ifndef L4_SCHEDULE_H
#define L4_SCHEDULE_H
#include <l4/thread.h>

/// Microseconds since an undefined base.
L4_INLINE L4_Clock_t L4_SystemClock(void)
{
    L4_Registers_t r = {0, 0, 0, 0, 0, 0, 0};
    L4_Clock_t c;
    __L4_Call_Stub(L4_KIP_SYSTEM_CLOCK, &r);
    c.X.low = r.eax;
    c.X.high = r.edx;
    return c;
}

/// Gives the rest of the time slice to dest if it can run, otherwise to the scheduler. No result, no errors.
L4_INLINE void L4_ThreadSwitch(L4_ThreadId_t dest)
{
    L4_Registers_t r = {dest.raw, 0, 0, 0, 0, 0, 0};
    __L4_Call_Stub(L4_KIP_THREAD_SWITCH, &r);
}
L4_INLINE void L4_Yield(void) { L4_ThreadSwitch(L4_nilthread); }

enum {
    L4_SCHEDRESULT_ERROR = 0, L4_SCHEDRESULT_DEAD = 1, L4_SCHEDRESULT_INACTIVE = 2, L4_SCHEDRESULT_RUNNING = 3,
    L4_SCHEDRESULT_PENDING_SEND = 4, L4_SCHEDRESULT_SENDING = 5, L4_SCHEDRESULT_WAITING = 6,
    L4_SCHEDRESULT_RECEIVING = 7,
};

/// Sets what is not all ones: time = timeslice << 16 | total quantum (Time periods), processor, priority 0..255,
/// preemption = sensitive priority << 16 | longest delay in us. Returns the thread state (L4_SCHEDRESULT_*), 0 with
/// ErrorCode 1, 2 or 5. Caller must be dest's scheduler. *old_time gets what is left of both, in the same form.
L4_INLINE L4_Word_t L4_Schedule(L4_ThreadId_t dest, L4_Word_t time, L4_Word_t processor, L4_Word_t priority,
                                L4_Word_t preemption, L4_Word_t *old_time)
{
    L4_Registers_t r = {dest.raw, priority, time, processor, preemption, 0, 0};
    __L4_Call_Stub(L4_KIP_SCHEDULE, &r);
    if (old_time) *old_time = r.edx;
    return r.eax & 0xFFu;
}
L4_INLINE L4_Word_t L4_Set_Priority(L4_ThreadId_t t, L4_Word_t priority)
{
    return L4_Schedule(t, ~0u, ~0u, priority, ~0u, 0);
}
L4_INLINE L4_Word_t L4_Set_ProcessorNo(L4_ThreadId_t t, L4_Word_t cpu) { return L4_Schedule(t, ~0u, cpu, ~0u, ~0u, 0); }
L4_INLINE L4_Word_t L4_Set_Timeslice(L4_ThreadId_t t, L4_Time_t slice, L4_Time_t quantum)
{
    return L4_Schedule(t, ((L4_Word_t)slice.raw << 16) | quantum.raw, ~0u, ~0u, ~0u, 0);
}
/// What is left of the time slice and of the total quantum.
L4_INLINE L4_Word_t L4_Timeslice(L4_ThreadId_t t, L4_Time_t *slice, L4_Time_t *quantum)
{
    L4_Word_t old = 0, state = L4_Schedule(t, ~0u, ~0u, ~0u, ~0u, &old);
    slice->raw = (L4_Word16_t)(old >> 16);
    quantum->raw = (L4_Word16_t)old;
    return state;
}
L4_INLINE L4_Word_t L4_Set_PreemptionDelay(L4_ThreadId_t t, L4_Word_t sensitive_priority, L4_Word_t max_delay_us)
{
    return L4_Schedule(t, ~0u, ~0u, ~0u, ((sensitive_priority & 0xFFu) << 16) | (max_delay_us & 0xFFFFu), 0);
}

// Preempt flags: I pending (bit 7), d delay (6), s signal (5). The functions return the old flag.
L4_INLINE volatile unsigned char *__L4_PreemptFlags(void)
{
    return (volatile unsigned char *)(__L4_Utcb() + L4_UTCB_FLAGS);
}
L4_INLINE L4_Bool_t __L4_PreemptFlag(unsigned char bit, L4_Bool_t on)
{
    unsigned char old = *__L4_PreemptFlags();
    *__L4_PreemptFlags() = on ? (unsigned char)(old | bit) : (unsigned char)(old & ~bit);
    return (old & bit) != 0;
}
L4_INLINE L4_Bool_t L4_EnablePreemptionFaultException(void) { return __L4_PreemptFlag(0x20, 1); }
L4_INLINE L4_Bool_t L4_DisablePreemptionFaultException(void) { return __L4_PreemptFlag(0x20, 0); }
L4_INLINE L4_Bool_t L4_DisablePreemption(void) { return __L4_PreemptFlag(0x40, 1); }
L4_INLINE L4_Bool_t L4_EnablePreemption(void) { return __L4_PreemptFlag(0x40, 0); }
/// True once for each preemption that the delay flag held back.
L4_INLINE L4_Bool_t L4_PreemptionPending(void) { return __L4_PreemptFlag(0x80, 0); }

#endif
