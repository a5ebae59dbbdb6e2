// SPDX-License-Identifier: BSD-2-Clause
// Clock values (64-bit microseconds) and the 16-bit Time of timeouts and time slices (manual 3.1, 3.3): what can be
// done without the system clock; l4/schedule.h has the rest. Included by l4/types.h.
#ifndef L4_TIME_H
#define L4_TIME_H
#include <l4/types.h>

typedef union {
    L4_Word64_t raw; ///< microseconds since an undefined base
    struct {
        L4_Word_t low, high;
    } X;
} L4_Clock_t;

/// The clock value us microseconds later, earlier.
L4_INLINE L4_Clock_t L4_ClockAddUsec(L4_Clock_t c, L4_Word64_t us)
{
    c.raw += us;
    return c;
}
L4_INLINE L4_Clock_t L4_ClockSubUsec(L4_Clock_t c, L4_Word64_t us)
{
    c.raw -= us;
    return c;
}
/// a < b, a > b, a == b, a != b.
L4_INLINE L4_Bool_t L4_IsClockEarlier(L4_Clock_t a, L4_Clock_t b) { return a.raw < b.raw; }
L4_INLINE L4_Bool_t L4_IsClockLater(L4_Clock_t a, L4_Clock_t b) { return a.raw > b.raw; }
L4_INLINE L4_Bool_t L4_IsClockEqual(L4_Clock_t a, L4_Clock_t b) { return a.raw == b.raw; }
L4_INLINE L4_Bool_t L4_IsClockNotEqual(L4_Clock_t a, L4_Clock_t b) { return a.raw != b.raw; }

#ifdef __cplusplus
L4_INLINE L4_Clock_t operator+(L4_Clock_t c, L4_Word64_t us) { return L4_ClockAddUsec(c, us); }
L4_INLINE L4_Clock_t operator-(L4_Clock_t c, L4_Word64_t us) { return L4_ClockSubUsec(c, us); }
L4_INLINE L4_Clock_t operator+(L4_Clock_t c, int us) { return L4_ClockAddUsec(c, (L4_Word64_t)us); }
L4_INLINE L4_Clock_t operator-(L4_Clock_t c, int us) { return L4_ClockSubUsec(c, (L4_Word64_t)us); }
// Words would be ambiguous between the two.
L4_INLINE L4_Clock_t operator+(L4_Clock_t c, L4_Word_t us) { return L4_ClockAddUsec(c, us); }
L4_INLINE L4_Clock_t operator-(L4_Clock_t c, L4_Word_t us) { return L4_ClockSubUsec(c, us); }
L4_INLINE L4_Clock_t operator+=(L4_Clock_t &c, L4_Word64_t us) { return c = c + us; }
L4_INLINE L4_Clock_t operator-=(L4_Clock_t &c, L4_Word64_t us) { return c = c - us; }
L4_INLINE bool operator<(L4_Clock_t a, L4_Clock_t b) { return a.raw < b.raw; }
L4_INLINE bool operator>(L4_Clock_t a, L4_Clock_t b) { return a.raw > b.raw; }
L4_INLINE bool operator<=(L4_Clock_t a, L4_Clock_t b) { return a.raw <= b.raw; }
L4_INLINE bool operator>=(L4_Clock_t a, L4_Clock_t b) { return a.raw >= b.raw; }
L4_INLINE bool operator==(L4_Clock_t a, L4_Clock_t b) { return a.raw == b.raw; }
L4_INLINE bool operator!=(L4_Clock_t a, L4_Clock_t b) { return a.raw != b.raw; }
#endif

typedef union {
    L4_Word16_t raw;
    struct {
        L4_Word16_t m : 10; ///< mantissa
        L4_Word16_t e : 5;  ///< exponent: m * 2^e microseconds
        L4_Word16_t a : 1;  ///< 0 for a period
    } period;
    struct {
        L4_Word16_t m : 10;
        L4_Word16_t c : 1; ///< expected parity of the clock above bit e + 10
        L4_Word16_t e : 4;
        L4_Word16_t a : 1; ///< 1 for a point
    } point;
} L4_Time_t;

#ifdef __cplusplus
#define L4_TIME_(value) (L4_Time_t{.raw = (L4_Word16_t)(value)})
#else
#define L4_TIME_(value) ((L4_Time_t){.raw = (L4_Word16_t)(value)})
#endif
#define L4_Never L4_TIME_(0x0000)    ///< infinite
#define L4_ZeroTime L4_TIME_(0x0400) ///< period of length zero

/// The longest period of at most `us` microseconds that can be written: the mantissa is rounded down. 0 gives
/// ZeroTime (Pistachio's library gives Never there), more than 1023 * 2^31 gives Never.
L4_INLINE L4_Time_t L4_TimePeriod(L4_Word64_t us)
{
    L4_Word_t e = 0;
    if (us == 0) return L4_ZeroTime;
    while (us > 1023) {
        us >>= 1;
        e++;
    }
    return e > 31 ? L4_Never : L4_TIME_((e << 10) | us);
}

/// Length of a period in microseconds; Never gives all ones.
L4_INLINE L4_Word64_t L4_PeriodUsec(L4_Time_t t)
{
    return t.raw == 0 ? ~0ull : (L4_Word64_t)(t.raw & 0x3FFu) << ((t.raw >> 10) & 0x1Fu);
}

/// A point at most about 33 s after `now` (manual 3.1): the shortest exponent that reaches `at`.
L4_INLINE L4_Time_t L4_TimePointAt(L4_Clock_t now, L4_Clock_t at)
{
    L4_Word64_t distance = at.raw > now.raw ? at.raw - now.raw : 0;
    L4_Word_t e = 0;
    while (e < 15 && (distance >> e) > 1023) e++;
    return L4_TIME_(0x8000u | (e << 11) | (((at.raw >> (e + 10)) & 1u) << 10) | ((at.raw >> e) & 0x3FFu));
}

/// True for a point in time, false for a period.
L4_INLINE L4_Bool_t L4_IsTimePoint(L4_Time_t t) { return (t.raw & 0x8000u) != 0; }

/// The clock value that the point t stands for when the clock shows `now` (manual 3.3).
L4_INLINE L4_Clock_t L4_TimePointClock(L4_Clock_t now, L4_Time_t t)
{
    const L4_Word_t e = (t.raw >> 11) & 0xFu;
    L4_Word64_t high = now.raw >> (e + 10);
    L4_Clock_t at;
    if ((high & 1u) != ((t.raw >> 10) & 1u)) high++;
    at.raw = ((high << 10) + (t.raw & 0x3FFu)) << e;
    return at;
}

#endif
