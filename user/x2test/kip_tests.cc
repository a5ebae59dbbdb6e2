// SPDX-License-Identifier: BSD-2-Clause
// The kernel interface page (manual 1.1 to 1.3).
#include "harness.h"
#include "machine.h"

#include <cobnut/boot.h>

extern "C" char image_start[], image_end[];

namespace x2test {
namespace {

L4_KernelInterfacePage_t *kip() { return static_cast<L4_KernelInterfacePage_t *>(L4_GetKernelInterface()); }

const L4_KernelDesc_t *description()
{
    return reinterpret_cast<const L4_KernelDesc_t *>(reinterpret_cast<char *>(kip()) + kip()->KernDescPtr);
}

void magic_and_version()
{
    CHECK_EQUAL(kip()->magic, L4_KernelMagic);
    CHECK_EQUAL(kip()->ApiVersion.raw >> 24, 0x84);
    CHECK_EQUAL(kip()->ApiFlags.raw & 0xF, 0);
}

/// KernelInterface returns copies of three fields.
void registers()
{
    Word version, flags, id;
    const auto base = reinterpret_cast<Word>(L4_KernelInterface(&version, &flags, &id));
    CHECK(base != 0 && (base & 0xFFF) == 0);
    CHECK_EQUAL(version, kip()->ApiVersion.raw);
    CHECK_EQUAL(flags, kip()->ApiFlags.raw);
    CHECK_EQUAL(id, description()->X.KernelId.raw);
}

void repeated()
{
    void *const first = L4_GetKernelInterface();
    const Word id = description()->X.KernelId.raw;
    for (int i = 0; i < 1000; i++) {
        Word version, flags, again;
        CHECK(L4_KernelInterface(&version, &flags, &again) == first);
        CHECK_EQUAL(again, id);
    }
}

void system_call_entries()
{
    const Word *entry = &kip()->SpaceControl;
    for (int i = 0; i < 11; i++) {
        CHECK(entry[i] >= 0x120 && entry[i] < page_size);
        for (int j = 0; j < i; j++) CHECK(entry[j] != entry[i] || (i == 5 && j == 4)); // Lipc may be Ipc
    }
}

void thread_numbers()
{
    const auto &info = kip()->ThreadInfo.X;
    CHECK(info.t == 17 || info.t == 18);
    CHECK(info.SystemBase >= 16 && info.UserBase >= info.SystemBase);
    CHECK_EQUAL(main_id.raw, L4_GlobalId(info.UserBase + 2, 1).raw);
}

void areas_and_pages()
{
    CHECK_EQUAL(L4_UtcbSize(kip()), 512);
    CHECK_EQUAL(L4_UtcbAlignmentLog2(kip()), 9);
    CHECK_EQUAL(L4_UtcbAreaSizeLog2(kip()), 12);
    CHECK_EQUAL(L4_KipAreaSizeLog2(kip()), 12);
    CHECK(L4_PageSizeMask(kip()) & page_size);
    CHECK(L4_PageRights(kip()) & L4_Writable);
    CHECK_EQUAL(L4_NumProcessors(kip()), 1);
    CHECK(kip()->ProcDescPtr >= 0x110 && kip()->ProcDescPtr < page_size);
    CHECK(L4_ProcDesc(kip(), 0) && !L4_ProcDesc(kip(), 1));
}

void clock_precision()
{
    CHECK(L4_ReadPrecision(kip()) != 0 && L4_SchedulePrecision(kip()) != 0);
    CHECK(L4_ReadPrecision(kip()) <= 10000);
}

void descriptions()
{
    CHECK(kip()->KernDescPtr >= 0x110 && kip()->KernDescPtr < page_size);
    Word year, month, day;
    L4_KernelGenDate(kip(), &year, &month, &day);
    CHECK(year >= 2000 && month >= 1 && month <= 12 && day >= 1 && day <= 31);
    CHECK(L4_KernelVersionString(kip())[0] != 0);
    Word features = 0;
    while (const char *name = L4_Feature(kip(), features)) {
        CHECK(name < reinterpret_cast<const char *>(kip()) + page_size);
        features++;
    }
    CHECK(!machine::feature || (features >= 1 && L4_HasFeature(machine::feature)));
    CHECK(!L4_HasFeature("smallspace")); // a part of a name
}

void memory_descriptors()
{
    bool ram = false, kernel = false, user = false;
    const Word n = L4_NumMemoryDescriptors(kip());
    CHECK(n > 0 && kip()->MemoryInfo.MemDescPtr + n * 8 <= page_size);
    for (Word i = 0; i < n; i++) {
        L4_MemoryDesc_t *d = L4_MemoryDesc(kip(), i);
        const Word type = L4_MemoryDescType(d), low = L4_MemoryDescLow(d), high = L4_MemoryDescHigh(d);
        if (type == L4_UndefinedMemoryType) continue;
        CHECK(low < high);
        if (L4_IsMemoryDescVirtual(d)) user |= type == L4_ConventionalMemoryType && low == 0 && high >= 0x3FFFFFFF;
        else if (type == L4_ConventionalMemoryType) ram = true;
        else if (type == L4_ReservedMemoryType && low <= machine::kernel_memory && high > machine::kernel_memory)
            kernel = true;
    }
    CHECK(ram && user);
    CHECK(kernel);
    CHECK(L4_MemoryDesc(kip(), n) == nullptr);
}

void own_thread_registers()
{
    const L4_ThreadId_t local = L4_MyLocalId();
    CHECK(L4_IsLocalId(local) && !L4_IsNilThread(local));
    CHECK_EQUAL((local.raw - L4_UtcbIdOffset) & 511, 0);
    CHECK_EQUAL(L4_MyGlobalId().raw, main_id.raw);
    CHECK_EQUAL(L4_ProcessorNo(), 0);
    CHECK_EQUAL(L4_Pager().raw, L4_GlobalId(L4_ThreadIdUserBase(kip()), 1).raw);
    CHECK_EQUAL(L4_ExceptionHandler().raw, 0);
}

/// The page and the UTCBs are never part of an fpage.
void not_unmappable()
{
    const Word address = reinterpret_cast<Word>(kip());
    L4_Flush(L4_FpageLog2(address, 12) + L4_FullyAccessible);
    L4_Flush(L4_FpageLog2(L4_MyLocalId().raw & ~0xFFFu, 12) + L4_FullyAccessible);
    CHECK_EQUAL(*reinterpret_cast<volatile Word *>(address), L4_KernelMagic);
    CHECK_EQUAL(L4_MyGlobalId().raw, main_id.raw);
}

Word do_kip_base(Word, Word, Word) { return reinterpret_cast<Word>(L4_GetKernelInterface()); }
Word do_local_id(Word, Word, Word) { return L4_MyLocalId().raw; }

void in_other_space()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(ask(a, do_kip_base).value, kip_area);
    CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
    CHECK_EQUAL(ask(a, do_read, kip_area + 0xE0).value, kip()->Ipc);
    CHECK_EQUAL(ask(a, do_local_id).value, a->local.raw);
}

/// The boot loader's word: a BootInfo that holds together, with the record of what this program is.
void boot_info()
{
    void *const info = cobnut::boot_info();
    CHECK(info != nullptr && L4_BootInfo(kip()) == reinterpret_cast<Word>(info)); // mapped one to one
    CHECK(L4_BootInfo_Valid(info));
    const Word size = L4_BootInfo_Size(info), n = L4_BootInfo_Entries(info);
    CHECK(n >= 1 && size >= 20 + n * sizeof(L4_BootRec_t));
    L4_BootRec_t *record = L4_BootInfo_FirstEntry(info);
    bool self = false, multiboot = false;
    for (Word i = 0; i < n; i++, record = L4_BootRec_Next(record)) {
        const Word offset = reinterpret_cast<Word>(record) - reinterpret_cast<Word>(info);
        CHECK(offset >= 20 && offset + sizeof(L4_BootRec_t) <= size);
        CHECK_EQUAL(record->X.version, 1);
        if (L4_BootRec_Type(record) == L4_BootInfo_Multiboot) multiboot = L4_MBI_Address(record) != 0;
        if (L4_BootRec_Type(record) == L4_BootInfo_SimpleExec)
            self |= L4_SimpleExec_TextPstart(record) == reinterpret_cast<Word>(image_start) &&
                    L4_SimpleExec_InitialIP(record) >= reinterpret_cast<Word>(image_start) &&
                    L4_SimpleExec_InitialIP(record) < reinterpret_cast<Word>(image_end);
    }
    CHECK(self);
    CHECK_EQUAL(multiboot, machine::multiboot);
}

/// What the boot loader has entered about the initial servers; there is no sigma1.
void server_records()
{
    const L4_KernelRootServer_t &own = kip()->root_server, &sigma0 = kip()->sigma0;
    CHECK(own.low <= reinterpret_cast<Word>(image_start) && own.high + 1 >= reinterpret_cast<Word>(image_start) + 1);
    CHECK(own.IP >= own.low && own.IP <= own.high);
    CHECK(sigma0.low < sigma0.high && sigma0.IP >= sigma0.low && sigma0.IP <= sigma0.high);
    CHECK(kip()->sigma1.low == 0 && kip()->sigma1.high == 0);
    CHECK(kip()->reserved0 == 0 && kip()->reserved1[0] == 0 && kip()->reserved1[4] == 0);
}

/// One description per processor, 2^s bytes each, inside the page.
void processor_descriptors()
{
    const auto &info = kip()->ProcessorInfo.X;
    CHECK(1u << info.s >= 8);
    CHECK(kip()->ProcDescPtr + ((info.processors + 1u) << info.s) <= page_size);
    CHECK(L4_ProcDesc(kip(), 0) ==
          reinterpret_cast<L4_ProcDesc_t *>(reinterpret_cast<char *>(kip()) + kip()->ProcDescPtr));
    // A kernel that has measured the one frequency gives the other as well.
    CHECK(L4_ProcDescInternalFreq(L4_ProcDesc(kip(), 0)) == 0 || L4_ProcDescInternalFreq(L4_ProcDesc(kip(), 0)) > 1000);
}

/// Sizes of pages are bits of 2^10 and up; 4 KB is one of them.
void page_sizes()
{
    const Word mask = L4_PageSizeMask(kip());
    CHECK(mask & page_size);
    CHECK_EQUAL(mask & 0x3FF, 0);
    CHECK_EQUAL(kip()->PageInfo.raw & 0x3F8, 0);
}

/// A sleep is over no later than the clock's jitter says.
void wake_up_is_precise()
{
    static constinit Word precision = 0;
    precision = L4_SchedulePrecision(kip());
    check_duration([] { pause(20000); }, 19000, 20000 + precision + 1000);
}

/// What the clock shows moves by no more than its precision at a time, at its best.
void clock_steps()
{
    const Word precision = L4_ReadPrecision(kip());
    Word least = ~0u;
    for (int i = 0; i < 1000; i++) {
        const L4_Clock_t first = L4_SystemClock();
        L4_Clock_t next = first;
        for (int tries = 0; tries < 100000 && next == first; tries++) next = L4_SystemClock();
        CHECK(next > first);
        if (next.raw - first.raw < least) least = static_cast<Word>(next.raw - first.raw);
        if (least <= precision) return;
    }
    fail("the clock moves by %u us at least, not %u", least, precision);
}

} // namespace

const Test kip_tests[] = {
    {"kip.magic_and_version", magic_and_version},
    {"kip.lock_nop_registers", registers},
    {"kip.lock_nop_repeated", repeated},
    {"kip.system_call_entries", system_call_entries},
    {"kip.thread_numbers", thread_numbers},
    {"kip.areas_and_pages", areas_and_pages},
    {"kip.clock_precision", clock_precision},
    {"kip.descriptions", descriptions},
    {"kip.memory_descriptors", memory_descriptors},
    {"kip.own_thread_registers", own_thread_registers},
    {"kip.not_unmappable", not_unmappable},
    {"kip.in_other_space", in_other_space},
    {"kip.boot_info", boot_info},
    {"kip.server_records", server_records},
    {"kip.processor_descriptors", processor_descriptors},
    {"kip.page_sizes", page_sizes},
    {"kip.wake_up_is_precise", wake_up_is_precise},
    {"kip.clock_steps", clock_steps},
    {nullptr, nullptr},
};

} // namespace x2test
