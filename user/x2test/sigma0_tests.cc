// SPDX-License-Identifier: BSD-2-Clause
// sigma0 as its clients see it (manual 7.6); runs with any sigma0 that follows the protocol.
#include "harness.h"

#include <l4/misc.h>
#include <l4/sigma0.h>

namespace x2test {
namespace {

L4_ThreadId_t sigma0() { return L4_GlobalId(L4_ThreadIdUserBase(L4_GetKernelInterface()), 1); }

L4_Fpage_t get(L4_Fpage_t f) { return L4_Sigma0_GetPage(sigma0(), f); }

bool usable(Word address)
{
    volatile Word *p = reinterpret_cast<volatile Word *>(address);
    *p = 0x51610000 + address;
    return *p == 0x51610000 + address;
}

void any_page()
{
    const L4_Fpage_t a = L4_Sigma0_GetAny(sigma0(), 12, L4_CompleteAddressSpace);
    const L4_Fpage_t b = L4_Sigma0_GetAny(L4_nilthread, 12, L4_CompleteAddressSpace); // nil means sigma0
    CHECK(!L4_IsNilFpage(a) && !L4_IsNilFpage(b));
    CHECK(L4_Address(a) != L4_Address(b));
    CHECK(usable(L4_Address(a)) && usable(L4_Address(b)));
    CHECK_EQUAL(L4_Rights(a), 7);
}

void any_of_each_size()
{
    for (Word log2 = 12; log2 <= 21; log2++) {
        const L4_Fpage_t f = L4_Sigma0_GetAny(sigma0(), log2, L4_CompleteAddressSpace);
        CHECK(!L4_IsNilFpage(f));
        CHECK_EQUAL(L4_SizeLog2(f), log2);
        CHECK_EQUAL(L4_Address(f) & (L4_Size(f) - 1), 0);
        CHECK(usable(L4_Address(f)) && usable(L4_Address(f) + L4_Size(f) - page_size));
    }
    CHECK(L4_IsNilFpage(L4_Sigma0_GetAny(sigma0(), 31, L4_CompleteAddressSpace)));
    CHECK(L4_IsNilFpage(L4_Sigma0_GetAny(sigma0(), 11, L4_CompleteAddressSpace)));
}

void any_in_window()
{
    constexpr Word window = 0x60000000;
    CHECK(!L4_IsNilFpage(L4_Sigma0_GetAny(sigma0(), 12, L4_FpageLog2(window, 12))));
    CHECK(usable(window));
}

void same_page_again()
{
    const L4_Fpage_t a = L4_Sigma0_GetAny(sigma0(), 12, L4_CompleteAddressSpace);
    CHECK_EQUAL(get(L4_FpageLog2(L4_Address(a), 12)).raw, a.raw);
    CHECK_EQUAL(get(L4_FpageLog2(L4_Address(a), 12) + L4_Readable).raw, a.raw); // rights asked for are ignored
}

Word do_get(Word fpage, Word, Word) { return get(L4_Fpage_t{.raw = fpage}).raw; }

/// The owner is the thread, not its space.
void owned_by_another()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    const L4_Fpage_t mine = L4_Sigma0_GetAny(sigma0(), 12, L4_CompleteAddressSpace);
    CHECK_EQUAL(ask(a, do_get, L4_FpageLog2(L4_Address(mine), 12).raw).value, 0);
    CHECK_EQUAL(ask(a, do_get, L4_FpageLog2(reinterpret_cast<Word>(arena), 12).raw).value, 0);
}

void shared_by_all()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    const L4_Fpage_t screen = L4_FpageLog2(0xB8000, 12);
    CHECK(!L4_IsNilFpage(get(screen)));
    CHECK(ask(a, do_get, screen.raw).value != 0);
}

void kernel_memory_is_refused()
{
    CHECK(L4_IsNilFpage(get(L4_FpageLog2(0x100000, 12))));
    CHECK(L4_IsNilFpage(get(L4_FpageLog2(0, 22)))); // contains it
    CHECK(L4_IsNilFpage(get(L4_CompleteAddressSpace)));
    CHECK(L4_IsNilFpage(get(L4_Nilpage)));
    CHECK(L4_IsNilFpage(get(L4_FpageLog2(0x20000, 12)))); // sigma0 itself
}

/// Addresses past the end of memory are devices; whoever asks first has them.
void devices() { CHECK(!L4_IsNilFpage(get(L4_FpageLog2(0x50000000, 12)))); }

void page_fault()
{
    // A page of conventional memory that nobody asked for: below those that requests for any take.
    CHECK(usable(0x01000000));
    CHECK(usable(0x01000000 + 37 * page_size));
}

/// No answer at all to what is malformed; the caller's own timeout ends the call.
void unanswered(Word tag)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = tag});
    L4_LoadMR(1, L4_FpageLog2(~0u, 12).raw);
    L4_LoadMR(2, 0);
    CHECK(L4_IpcFailed(L4_Call_Timeouts(sigma0(), second, short_time)));
    CHECK_EQUAL(L4_ErrorCode(), 3);
}
void malformed_requests()
{
    unanswered(0x00000002); // no label
    unanswered(0xFFA00001);
    unanswered(0xFFA00000);
    unanswered(0xFFA00004);
    unanswered(0x12340002);
}

/// The answer does not fit a closed window: the requester hears of it, sigma0 goes on.
void refused_answer()
{
    L4_Accept(L4_UntypedWordsAcceptor);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0xFFA00002});
    L4_LoadMR(1, L4_FpageLog2(~0u, 12).raw);
    L4_LoadMR(2, 0);
    CHECK(L4_IpcFailed(L4_Call_Timeouts(sigma0(), second, second)));
    CHECK_EQUAL(L4_ErrorCode(), 9);
    any_page();
}

/// A request with attributes; the fpage that comes back, which an agent's window takes.
Word do_get_with(Word fpage, Word attribute, Word)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0xFFA00002});
    L4_LoadMR(1, fpage);
    L4_LoadMR(2, attribute);
    const L4_MsgTag_t tag = L4_Call(sigma0());
    L4_Accept(L4_UntypedWordsAcceptor);
    Word mr[2];
    L4_StoreMRs(1, 2, mr);
    if (tag.raw != 2u << 6 || (mr[0] & 0xF) != 8) return ~0u;
    return mr[1];
}

/// Memory is cached as asked for; for the owner the attribute alone can change. One that the processor has not is refused.
void attributes()
{
    const Word page = do_get_with(L4_FpageLog2(~0u, 12).raw, L4_UncacheableMemory, 0);
    const L4_Fpage_t f = {.raw = page & ~7u};
    CHECK(page != 0 && page != ~0u && usable(L4_Address(f)));
    CHECK_EQUAL(do_get_with(f.raw, L4_WriteThroughMemory, 0), page);
    CHECK_EQUAL(do_get_with(f.raw, L4_DefaultMemory, 0), page);
    CHECK(usable(L4_Address(f)));
    CHECK_EQUAL(do_get_with(f.raw, 7, 0), 0);
    CHECK_EQUAL(do_get_with(L4_FpageLog2(~0u, 12).raw, 99, 0), 0);
    CHECK(do_get_with(L4_FpageLog2(0x58000000, 13).raw, L4_UncacheableMemory, 0) != 0); // a device of 8 MB
}

/// Ports are given out once, like devices' memory: by request, whole, to one thread.
void ports()
{
    Agent *a = agent(Kind::here), *b = agent(Kind::other);
    if (!a || !b) return;
    constexpr Word rights = L4_FullyAccessible;
    const Word block = L4_IoFpageLog2(0x5600, 4).raw, inside = L4_IoFpageLog2(0x5608, 0).raw;
    CHECK_EQUAL(ask(b, do_get_with, block, 0).value, block | rights);
    CHECK_EQUAL(ask(b, do_get_with, inside, 0).value, inside | rights);
    CHECK_EQUAL(ask(a, do_get_with, inside, 0).value, 0);
    CHECK_EQUAL(ask(a, do_get_with, L4_IoFpageLog2(0x5600, 8).raw, 0).value, 0); // part of it is another's
    CHECK_EQUAL(ask(a, do_get_with, L4_IoFpageLog2(0x5601, 1).raw, 0).value, 0); // not aligned
    CHECK_EQUAL(ask(a, do_get_with, L4_IoFpageLog2(0, 17).raw, 0).value, 0);
    begin(b, [](Word port, Word, Word) -> Word {
        Word value = 0;
        __asm__ volatile("inb %%dx, %%al" : "+a"(value) : "d"(port));
        return value;
    }, 0x560F);
    CHECK_EQUAL(finish(b).port_faults, 0);
}

/// Memory past the kernel's reach or the processor's: a bit asks for addresses beyond 4 GB.
void beyond_four_gigabytes()
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0xFFA00003});
    L4_LoadMR(1, L4_FpageLog2(0x1000000, 12).raw | 8);
    L4_LoadMR(2, 0);
    L4_LoadMR(3, 1);
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    const L4_MsgTag_t tag = L4_Call_Timeouts(sigma0(), second, second);
    Word mr[2];
    L4_StoreMRs(1, 2, mr);
    CHECK_EQUAL(tag.raw, 2u << 6);
    CHECK(mr[0] == 8 && mr[1] == 0);
}

} // namespace

const Test sigma0_tests[] = {
    {"sigma0.any_page", any_page},
    {"sigma0.any_of_each_size", any_of_each_size},
    {"sigma0.any_in_window", any_in_window},
    {"sigma0.same_page_again", same_page_again},
    {"sigma0.owned_by_another", owned_by_another},
    {"sigma0.shared_by_all", shared_by_all},
    {"sigma0.kernel_memory_is_refused", kernel_memory_is_refused},
    {"sigma0.devices", devices},
    {"sigma0.page_fault", page_fault},
    {"sigma0.malformed_requests", malformed_requests},
    {"sigma0.refused_answer", refused_answer},
    {"sigma0.attributes", attributes},
    {"sigma0.ports", ports},
    {"sigma0.beyond_four_gigabytes", beyond_four_gigabytes},
    {nullptr, nullptr},
};

} // namespace x2test
