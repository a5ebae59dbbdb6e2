// SPDX-License-Identifier: BSD-2-Clause
// sigma0 as its clients see it (manual 7.6); runs with any sigma0 that follows the protocol.
#include "harness.h"
#include "machine.h"

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
    const L4_Fpage_t shared = L4_FpageLog2(machine::shared_memory, 12);
    CHECK(!L4_IsNilFpage(get(shared)));
    CHECK(ask(a, do_get, shared.raw).value != 0);
}

void kernel_memory_is_refused()
{
    CHECK(L4_IsNilFpage(get(L4_FpageLog2(machine::kernel_memory, 12))));
    CHECK(L4_IsNilFpage(get(L4_FpageLog2(machine::memory, 22)))); // contains it
    CHECK(L4_IsNilFpage(get(L4_CompleteAddressSpace)));
    CHECK(L4_IsNilFpage(get(L4_Nilpage)));
    const Word itself = static_cast<const L4_KernelInterfacePage_t *>(L4_GetKernelInterface())->sigma0.low;
    CHECK(L4_IsNilFpage(get(L4_FpageLog2(itself, 12))));
}

/// A board may show its memory again where a larger one would be, the kernel's with it.
void behind_the_memory_is_refused()
{
    Word end = 0;
    for (Word i = 0; i < L4_NumMemoryDescriptors(L4_GetKernelInterface()); i++) {
        L4_MemoryDesc_t *d = L4_MemoryDesc(L4_GetKernelInterface(), i);
        // What is beyond the kernel's window is shared: a descriptor of its own, not that of all addresses.
        const bool beyond = L4_MemoryDescType(d) == L4_SharedMemoryType && L4_MemoryDescHigh(d) < machine::memory_end;
        if (L4_IsMemoryDescVirtual(d) || !(beyond || L4_MemoryDescType(d) == L4_ConventionalMemoryType)) continue;
        if (L4_MemoryDescHigh(d) >= end) end = L4_MemoryDescHigh(d) + 1;
    }
    if (!machine::memory_end || end >= machine::memory_end || end >= machine::kernel_area) return;
    const Word places[] = {end, end + machine::kernel_memory - machine::memory, machine::memory_end - page_size};
    for (const Word place : places) CHECK(L4_IsNilFpage(get(L4_FpageLog2(place, 12))));
}

/// A program that could turn the kernel's clock off would have the processor for ever.
void kernel_devices_are_refused()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    for (const Word *device = machine::kernel_devices; *device; device++) {
        CHECK(L4_IsNilFpage(get(L4_FpageLog2(*device, 12))));
        CHECK(L4_IsNilFpage(get(L4_FpageLog2(*device & ~0xFFFFFu, 20)))); // contains it
        CHECK_EQUAL(ask(a, do_get, L4_FpageLog2(*device, 12).raw).value, 0);
    }
}

/// Addresses past the end of memory are devices; the thread that asks first has them.
void devices() { CHECK(!L4_IsNilFpage(get(L4_FpageLog2(0x50000000, 12)))); }

void page_fault()
{
    // A page of conventional memory that was not asked for: below those that requests for any take.
    CHECK(usable(machine::memory + 0x01000000));
    CHECK(usable(machine::memory + 0x01000000 + 37 * page_size));
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

/// Memory is cached as asked for; for the owner the attribute alone can change. One that the processor has not is
/// refused.
void attributes()
{
    const Word page = do_sigma0_get(L4_FpageLog2(~0u, 12).raw, L4_UncacheableMemory, 0);
    const L4_Fpage_t f = {.raw = page & ~7u};
    CHECK(page != 0 && page != ~0u && usable(L4_Address(f)));
    CHECK_EQUAL(do_sigma0_get(f.raw, L4_WriteThroughMemory, 0), page);
    CHECK_EQUAL(do_sigma0_get(f.raw, L4_DefaultMemory, 0), page);
    CHECK(usable(L4_Address(f)));
    CHECK_EQUAL(do_sigma0_get(f.raw, 7, 0), 0);
    CHECK_EQUAL(do_sigma0_get(L4_FpageLog2(~0u, 12).raw, 99, 0), 0);
    CHECK(do_sigma0_get(L4_FpageLog2(0x58000000, 13).raw, L4_UncacheableMemory, 0) != 0); // a device of 8 MB
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
    {"sigma0.behind_the_memory_is_refused", behind_the_memory_is_refused},
    {"sigma0.kernel_devices_are_refused", kernel_devices_are_refused},
    {"sigma0.devices", devices},
    {"sigma0.page_fault", page_fault},
    {"sigma0.malformed_requests", malformed_requests},
    {"sigma0.refused_answer", refused_answer},
    {"sigma0.attributes", attributes},
    {"sigma0.beyond_four_gigabytes", beyond_four_gigabytes},
    {nullptr, nullptr},
};

} // namespace x2test
