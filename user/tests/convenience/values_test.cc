// SPDX-License-Identifier: BSD-2-Clause
// Thread ids, fpages, times, tags: each expectation is a bit pattern or a sentence of the manual's section.
#include "check.h"
#include "fake_kernel.h"

#include <initializer_list>

namespace {

void thread_ids() // 2.1
{
    EXPECT(L4_GlobalId(0x12345, 0x0ABC).raw, 0x12345u << 14 | 0x0ABC);
    EXPECT(L4_ThreadNo({.raw = 0xFFFFC001}), 0x3FFFF);
    EXPECT(L4_Version({.raw = 0xFFFFC001}), 1);
    EXPECT(L4_IsGlobalId({.raw = 0x000C0001}), 1);
    EXPECT(L4_IsLocalId({.raw = 0x000C0001}), 0);
    EXPECT(L4_IsLocalId({.raw = 0xBF000100}), 1);
    EXPECT(L4_IsLocalId(L4_anylocalthread), 1);
    EXPECT(L4_IsGlobalId(L4_anythread), 1);
    EXPECT(L4_IsNilThread(L4_nilthread), 1);
    EXPECT(L4_IsNilThread(L4_anythread), 0);
    const L4_ThreadId_t a = L4_GlobalId(100, 1), b = L4_GlobalId(100, 2);
    EXPECT(a == a && !(a == b) && a != b && !(a != a), 1);
    EXPECT(L4_IsThreadEqual(a, a) && L4_IsThreadNotEqual(a, b) && !L4_IsThreadEqual(a, b), 1);
}

void fpages() // 4.1
{
    const L4_Fpage_t f = L4_FpageLog2(0x12345000, 12);
    EXPECT(f.raw, 0x12345000u | 12 << 4);
    EXPECT(L4_Address(f), 0x12345000);
    EXPECT(L4_Size(f), 4096);
    EXPECT(L4_SizeLog2(f), 12);
    EXPECT(L4_Fpage(0x400000, 1024).raw, 0x400000u | 10 << 4);
    EXPECT(L4_Fpage(0x400000, 0x400000).raw, 0x400000u | 22 << 4);
    EXPECT(L4_SizeLog2(L4_Fpage(0, 4097)), 13);
    EXPECT(L4_SizeLog2(L4_Fpage(0, 0x80000000)), 31);
    EXPECT(L4_SizeLog2(L4_Fpage(0, 0x80000001)), 32);
    EXPECT(L4_SizeLog2(L4_CompleteAddressSpace), 32);
    EXPECT(L4_Address(L4_CompleteAddressSpace), 0);
    EXPECT(L4_Size(L4_Nilpage), 0);
    EXPECT(L4_IsNilFpage(L4_Nilpage), 1);
    EXPECT(L4_IsNilFpage(L4_CompleteAddressSpace), 0);
    EXPECT(L4_Rights(f), L4_NoAccess);
    EXPECT(L4_Rights(f + L4_Readable + L4_Writable), 6);
    EXPECT((f + L4_FullyAccessible - L4_Writable).raw, f.raw | L4_ReadeXecOnly);
    L4_Fpage_t g = f;
    EXPECT((g += L4_FullyAccessible).raw, f.raw | 7);
    EXPECT((g -= L4_eXecutable).raw, f.raw | 6);
    EXPECT(g.raw, f.raw | 6);
    L4_Set_Rights(&g, L4_Readable);
    EXPECT(g.raw, f.raw | 4);
    L4_Set_Rights(g, L4_Writable);
    EXPECT(g.raw, f.raw | 2);
    EXPECT(L4_FpageAddRightsTo(&g, 4).raw, f.raw | 6);
    EXPECT(L4_FpageRemoveRightsFrom(&g, 2).raw, f.raw | 4);
    EXPECT(g.X.rwx, 4);
    EXPECT(g.X.s, 12);
    EXPECT(g.X.b, 0x12345000 >> 10);
}

void io_fpages_and_small_spaces() // A.4, A.5
{
    EXPECT(L4_IoFpageLog2(0x3F8, 3).raw, 0x3F8u << 16 | 3 << 10 | 2 << 4);
    EXPECT(L4_IoFpage(0x80, 1).raw, 0x00800020);
    EXPECT(L4_IoFpage(0, 65536).raw, 0x4020);
    EXPECT(L4_IoFpage(0x60, 5).raw, L4_IoFpageLog2(0x60, 3).raw);
    // size = 2^pos * 4 MB, location = the rest * 2 MB
    for (L4_Word_t p = 0; p < 8; p++)
        for (L4_Word_t at = 0; at < 512; at += 4u << p) {
            const L4_Word_t n = L4_SmallSpace(at, 4u << p), lowest = n & -n;
            EXPECT(lowest * 4, 4u << p);
            EXPECT((n - lowest) * 2, at);
        }
}

void clocks() // 3.1
{
    const L4_Clock_t c = {.raw = 0x1'0000'0000};
    EXPECT((c + -1).raw, 0xFFFFFFFF);
    EXPECT((c - 1).raw, 0xFFFFFFFF);
    EXPECT((c + 0x2'0000'0000ull).raw, 0x3'0000'0000);
    EXPECT(L4_ClockSubUsec(c, 0x1'0000'0000).raw, 0);
    EXPECT(c.X.high, 1);
    EXPECT(c.X.low, 0);
    const L4_Clock_t d = c + 1;
    EXPECT(c < d && d > c && c <= d && c <= c && d >= c && c == c && c != d && !(d <= c) && !(c >= d), 1);
    EXPECT(L4_IsClockEarlier(c, d) && L4_IsClockLater(d, c) && L4_IsClockEqual(c, c) && L4_IsClockNotEqual(c, d), 1);
}

void periods() // 3.3: m * 2^e us, 0 is a code of its own
{
    EXPECT(L4_TimePeriod(0).raw, 0x0400);
    EXPECT(L4_TimePeriod(1).raw, 1);
    EXPECT(L4_TimePeriod(1023).raw, 1023);
    EXPECT(L4_TimePeriod(1024).raw, 1 << 10 | 512);
    EXPECT(L4_TimePeriod(1023ull << 31).raw, 31 << 10 | 1023);
    EXPECT(L4_TimePeriod(1024ull << 31).raw, 0);
    for (const L4_Word64_t us : {5ull, 1500ull, 999'999ull, 3'600'000'000ull}) {
        const L4_Time_t t = L4_TimePeriod(us);
        const L4_Word64_t real = static_cast<L4_Word64_t>(t.period.m) << t.period.e;
        EXPECT(real <= us && us - real < (us >> 9) + 1, 1);
    }
    const L4_Time_t ms = L4_TimePeriod(1000), two = L4_TimePeriod(2000);
    EXPECT(ms < two && two > ms && ms <= ms && two >= ms && ms == ms && ms != two && !(two < ms) && !(ms >= two), 1);
    EXPECT(two < L4_Never && L4_ZeroTime < ms, 1);
    EXPECT(L4_IsTimeShorter(ms, two) && L4_IsTimeLonger(two, ms) && L4_IsTimeNotEqual(ms, two), 1);
    EXPECT((ms + ms).raw, two.raw);
    EXPECT((two - ms).raw, ms.raw);
    EXPECT((two - 1000u).raw, ms.raw);
    EXPECT((ms - two).raw, L4_ZeroTime.raw);
    EXPECT((ms + L4_Never).raw, L4_Never.raw);
    EXPECT((L4_Never - ms).raw, L4_Never.raw);
    // un-normalised: 1 * 2^4 and 16 * 2^0 are the same time
    EXPECT(L4_IsTimeEqual({.raw = 4 << 10 | 1}, {.raw = 16}), 1);
    L4_Time_t t = ms;
    EXPECT((t += 1000u).raw, two.raw);
    EXPECT((t -= ms).raw, ms.raw);
    EXPECT((t += ms).raw, two.raw);
    EXPECT((t -= 1000u).raw, ms.raw);
    EXPECT(L4_TimeAddUsecTo(&t, 1000).raw, two.raw);
    EXPECT(L4_TimeSubUsecFrom(&t, 1000).raw, ms.raw);
    EXPECT(L4_TimeAddTo(&t, ms).raw, two.raw);
    EXPECT(L4_TimeSubFrom(&t, ms).raw, ms.raw);
}

void set_clock(L4_Word64_t us) { fake::answer = {.eax = L4_Word_t(us), .edx = L4_Word_t(us >> 32)}; }

void points() // 3.3: valid from C0 up to C0 + (2^10 - 1) * 2^e
{
    for (const L4_Word64_t now : {0ull, 1'023ull, 123'456'789'012ull, 0xFFFF'FC00ull})
        for (const L4_Word64_t ahead : {0ull, 1ull, 1'023ull, 10'000ull, 1'000'000ull, 33'000'000ull}) {
            set_clock(now);
            const L4_Time_t t = L4_TimePoint({.raw = now + ahead});
            EXPECT(L4_IsTimePoint(t), 1);
            const L4_Word64_t step = 1ull << t.point.e;
            // a precision of 10 us for 10 ms, of 1 ms for a second
            EXPECT(step <= (ahead >> 9) + 1, 1);
            const L4_Word64_t at = L4_TimePointClock({.raw = now}, t).raw;
            EXPECT(at <= now + ahead && now + ahead - at < step, 1);
            // it means the same until it has come
            if (at >= now) EXPECT(L4_TimePointClock({.raw = at}, t).raw, at);
        }
    set_clock(5'000'000);
    const L4_Time_t soon = L4_TimePoint({.raw = 5'000'512}), later = L4_TimePoint({.raw = 6'000'000});
    EXPECT(soon < later && later > soon && soon != later && soon == soon, 1);
    EXPECT(soon + 100u > soon && later - L4_TimePeriod(100'000) < later, 1);
    EXPECT(L4_TimePointClock({.raw = 5'000'000}, soon + 100u).raw, 5'000'612);
}

void tags() // 5.1, 5.6
{
    const L4_MsgTag_t t = {.raw = 0xABCD0000u | 3 << 6 | 5};
    EXPECT(L4_Label(t), 0xABCD);
    EXPECT(L4_TypedWords(t), 3);
    EXPECT(L4_UntypedWords(t), 5);
    EXPECT((t + 0x1234).raw, 0x12340000u | 3 << 6 | 5);
    L4_MsgTag_t u = t;
    EXPECT((u += 7).raw, 7u << 16 | 3 << 6 | 5);
    EXPECT(L4_MsgTagAddLabelTo(&u, 8).raw, 8u << 16 | 3 << 6 | 5);
    EXPECT(t == t && t != u && L4_IsMsgTagEqual(t, t) && L4_IsMsgTagNotEqual(t, u), 1);
    for (unsigned bit = 12; bit < 16; bit++) {
        const L4_MsgTag_t flag = {.raw = 1u << bit};
        EXPECT(L4_IpcPropagated(flag) != 0, bit == 12);
        EXPECT(L4_IpcRedirected(flag) != 0, bit == 13);
        EXPECT(L4_IpcXcpu(flag) != 0, bit == 14);
        EXPECT(L4_IpcFailed(flag) != 0, bit == 15);
        EXPECT(L4_IpcSucceeded(flag) != 0, bit != 15);
    }
    L4_Set_Propagation(&u);
    EXPECT(L4_IpcPropagated(u) != 0, 1);
    EXPECT(L4_Timeouts(L4_ZeroTime, L4_TimePeriod(9)), 0x04000009);
}

} // namespace

void test_values()
{
    thread_ids();
    fpages();
    io_fpages_and_small_spaces();
    clocks();
    periods();
    points();
    tags();
}
