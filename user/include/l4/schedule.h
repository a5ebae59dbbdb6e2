// SPDX-License-Identifier: BSD-2-Clause
// System clock, times, thread switch, scheduling parameters, preempt flags (manual 3.1 to 3.6).
#ifndef L4_SCHEDULE_H
#define L4_SCHEDULE_H
#include <l4/thread.h>

/// The SystemClock system call (3.2): microseconds since an undefined base.
L4_INLINE L4_Clock_t L4_SystemClock(void)
{
    L4_Word_t low, high;
    L4_Clock_t c;
    __L4_Raw_SystemClock(&low, &high);
    c.X.low = low;
    c.X.high = high;
    return c;
}

// ---------------------------------------------------------------------------------------------------- times (3.3)
/// The point in time `at`, at most about 33 s from now; with a precision of a thousandth of the distance.
L4_INLINE L4_Time_t L4_TimePoint(L4_Clock_t at) { return L4_TimePointAt(L4_SystemClock(), at); }

/// Microseconds of a period (all ones for Never), or the clock value of a point: what comparisons compare.
L4_INLINE L4_Word64_t __L4_TimeUsec(L4_Time_t t)
{
    return L4_IsTimePoint(t) ? L4_TimePointClock(L4_SystemClock(), t).raw : L4_PeriodUsec(t);
}
/// a plus and minus us microseconds. Never stays Never; what would be below zero is ZeroTime. a may be a point.
L4_INLINE L4_Time_t __L4_TimeMove(L4_Time_t a, L4_Word64_t us, L4_Bool_t back)
{
    L4_Word64_t old = __L4_TimeUsec(a), moved = back ? (old > us ? old - us : 0) : old + us;
    L4_Clock_t at;
    if (a.raw == L4_Never.raw) return a;
    at.raw = moved;
    return L4_IsTimePoint(a) ? L4_TimePoint(at) : L4_TimePeriod(moved);
}
L4_INLINE L4_Time_t L4_TimeAddUsec(L4_Time_t a, L4_Word_t us) { return __L4_TimeMove(a, us, 0); }
L4_INLINE L4_Time_t L4_TimeSubUsec(L4_Time_t a, L4_Word_t us) { return __L4_TimeMove(a, us, 1); }
/// a plus and minus the period b. Never plus anything, and anything plus Never, is Never.
L4_INLINE L4_Time_t L4_TimeAdd(L4_Time_t a, L4_Time_t b)
{
    return b.raw == L4_Never.raw ? L4_Never : __L4_TimeMove(a, L4_PeriodUsec(b), 0);
}
L4_INLINE L4_Time_t L4_TimeSub(L4_Time_t a, L4_Time_t b) { return __L4_TimeMove(a, L4_PeriodUsec(b), 1); }
/// The same, changing *a, which they return.
L4_INLINE L4_Time_t L4_TimeAddUsecTo(L4_Time_t *a, L4_Word_t us) { return *a = L4_TimeAddUsec(*a, us); }
L4_INLINE L4_Time_t L4_TimeSubUsecFrom(L4_Time_t *a, L4_Word_t us) { return *a = L4_TimeSubUsec(*a, us); }
L4_INLINE L4_Time_t L4_TimeAddTo(L4_Time_t *a, L4_Time_t b) { return *a = L4_TimeAdd(*a, b); }
L4_INLINE L4_Time_t L4_TimeSubFrom(L4_Time_t *a, L4_Time_t b) { return *a = L4_TimeSub(*a, b); }
/// Compare two periods by length (Never is the longest), or two points by the clock value that they stand for now.
L4_INLINE L4_Bool_t L4_IsTimeShorter(L4_Time_t a, L4_Time_t b) { return __L4_TimeUsec(a) < __L4_TimeUsec(b); }
L4_INLINE L4_Bool_t L4_IsTimeLonger(L4_Time_t a, L4_Time_t b) { return __L4_TimeUsec(a) > __L4_TimeUsec(b); }
L4_INLINE L4_Bool_t L4_IsTimeEqual(L4_Time_t a, L4_Time_t b) { return __L4_TimeUsec(a) == __L4_TimeUsec(b); }
L4_INLINE L4_Bool_t L4_IsTimeNotEqual(L4_Time_t a, L4_Time_t b) { return !L4_IsTimeEqual(a, b); }

#ifdef __cplusplus
L4_INLINE L4_Time_t operator+(L4_Time_t a, L4_Time_t b) { return L4_TimeAdd(a, b); }
L4_INLINE L4_Time_t operator-(L4_Time_t a, L4_Time_t b) { return L4_TimeSub(a, b); }
L4_INLINE L4_Time_t operator+(L4_Time_t a, L4_Word_t us) { return L4_TimeAddUsec(a, us); }
L4_INLINE L4_Time_t operator-(L4_Time_t a, L4_Word_t us) { return L4_TimeSubUsec(a, us); }
L4_INLINE L4_Time_t operator+=(L4_Time_t &a, L4_Time_t b) { return L4_TimeAddTo(&a, b); }
L4_INLINE L4_Time_t operator-=(L4_Time_t &a, L4_Time_t b) { return L4_TimeSubFrom(&a, b); }
L4_INLINE L4_Time_t operator+=(L4_Time_t &a, L4_Word_t us) { return L4_TimeAddUsecTo(&a, us); }
L4_INLINE L4_Time_t operator-=(L4_Time_t &a, L4_Word_t us) { return L4_TimeSubUsecFrom(&a, us); }
L4_INLINE bool operator<(L4_Time_t a, L4_Time_t b) { return L4_IsTimeShorter(a, b); }
L4_INLINE bool operator>(L4_Time_t a, L4_Time_t b) { return L4_IsTimeLonger(a, b); }
L4_INLINE bool operator<=(L4_Time_t a, L4_Time_t b) { return __L4_TimeUsec(a) <= __L4_TimeUsec(b); }
L4_INLINE bool operator>=(L4_Time_t a, L4_Time_t b) { return __L4_TimeUsec(a) >= __L4_TimeUsec(b); }
L4_INLINE bool operator==(L4_Time_t a, L4_Time_t b) { return L4_IsTimeEqual(a, b); }
L4_INLINE bool operator!=(L4_Time_t a, L4_Time_t b) { return L4_IsTimeNotEqual(a, b); }
#endif

// ------------------------------------------------------------------------------- thread switch, Schedule (3.4, 3.5)
/// Gives the rest of the time slice to dest if it can run, otherwise to the scheduler. No result, no errors.
L4_INLINE void L4_ThreadSwitch(L4_ThreadId_t dest) { __L4_Raw_ThreadSwitch(dest.raw); }
/// To a thread that the scheduler chooses.
L4_INLINE void L4_Yield(void) { L4_ThreadSwitch(L4_nilthread); }

// Thread states that Schedule returns.
enum {
    L4_SCHEDRESULT_ERROR = 0,
    L4_SCHEDRESULT_DEAD = 1,
    L4_SCHEDRESULT_INACTIVE = 2,
    L4_SCHEDRESULT_RUNNING = 3,
    L4_SCHEDRESULT_PENDING_SEND = 4,
    L4_SCHEDRESULT_SENDING = 5,
    L4_SCHEDRESULT_WAITING = 6,
    L4_SCHEDRESULT_RECEIVING = 7,
};

/// Sets what is not all ones: time = timeslice << 16 | total quantum (Time periods), processor, priority 0..255,
/// preemption = sensitive priority << 16 | longest delay in us. Returns the thread state (L4_SCHEDRESULT_*), 0 with
/// ErrorCode 1, 2 or 5. Caller must be dest's scheduler. *old_time gets what is left of both, in the same form.
L4_INLINE L4_Word_t L4_Schedule(L4_ThreadId_t dest, L4_Word_t time, L4_Word_t processor, L4_Word_t priority,
                                L4_Word_t preemption, L4_Word_t *old_time)
{
    L4_Word_t state = __L4_Raw_Schedule(dest.raw, &time, processor, priority, preemption);
    if (old_time) *old_time = time;
    return state & 0xFFu;
}
/// Each sets one thing; returns and errors as Schedule.
L4_INLINE L4_Word_t L4_Set_Priority(L4_ThreadId_t t, L4_Word_t priority)
{
    return L4_Schedule(t, ~0u, ~0u, priority, ~0u, 0);
}
L4_INLINE L4_Word_t L4_Set_ProcessorNo(L4_ThreadId_t t, L4_Word_t cpu) { return L4_Schedule(t, ~0u, cpu, ~0u, ~0u, 0); }
L4_INLINE L4_Word_t L4_Set_Timeslice(L4_ThreadId_t t, L4_Time_t slice, L4_Time_t quantum)
{
    return L4_Schedule(t, ((L4_Word_t)slice.raw << 16) | quantum.raw, ~0u, ~0u, ~0u, 0);
}
/// What is left of the time slice and of the total quantum; returns as Schedule.
L4_INLINE L4_Word_t L4_Timeslice(L4_ThreadId_t t, L4_Time_t *slice, L4_Time_t *quantum)
{
    L4_Word_t old = 0, state = L4_Schedule(t, ~0u, ~0u, ~0u, ~0u, &old);
    slice->raw = (L4_Word16_t)(old >> 16);
    quantum->raw = (L4_Word16_t)old;
    return state;
}
/// Preemptors up to the priority are delayed, at most that long (16 bits; 0: not at all).
L4_INLINE L4_Word_t L4_Set_PreemptionDelay(L4_ThreadId_t t, L4_Word_t sensitive_priority, L4_Word_t max_delay_us)
{
    return L4_Schedule(t, ~0u, ~0u, ~0u, ((sensitive_priority & 0xFFu) << 16) | (max_delay_us & 0xFFFFu), 0);
}

// --------------------------------------------------------------------------------------------- preempt flags (3.6)
// I pending (bit 7), d delay (6), s signal (5). The functions return the old flag.
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
/// Set and clear s: preemptions become messages to the exception handler, which need no answer.
L4_INLINE L4_Bool_t L4_EnablePreemptionFaultException(void) { return __L4_PreemptFlag(0x20, 1); }
L4_INLINE L4_Bool_t L4_DisablePreemptionFaultException(void) { return __L4_PreemptFlag(0x20, 0); }
/// Set and clear d: preemptions up to the sensitive priority wait for the next thread switch to nilthread.
L4_INLINE L4_Bool_t L4_DisablePreemption(void) { return __L4_PreemptFlag(0x40, 1); }
L4_INLINE L4_Bool_t L4_EnablePreemption(void) { return __L4_PreemptFlag(0x40, 0); }
/// Whether a preemption waits that the delay flag holds back; false once it has taken place.
L4_INLINE L4_Bool_t L4_PreemptionPending(void) { return __L4_PreemptFlag(0x80, 0); }

#ifdef __cplusplus
L4_INLINE L4_Word_t L4_Schedule(L4_ThreadId_t dest, L4_Word_t time, L4_Word_t processor, L4_Word_t priority,
                                L4_Word_t preemption, L4_Word_t &old_time)
{
    return L4_Schedule(dest, time, processor, priority, preemption, &old_time);
}
L4_INLINE L4_Word_t L4_Timeslice(L4_ThreadId_t t, L4_Time_t &slice, L4_Time_t &quantum)
{
    return L4_Timeslice(t, &slice, &quantum);
}
#endif

#endif
