// SPDX-License-Identifier: BSD-2-Clause
#include <cobnut/boot.h>
#include <l4/sigma0.h>

extern "C" const char _start[];

namespace cobnut {
namespace {

constexpr L4_Word_t page = 4096;

/// Walks the records; stops at the first that would lead outside the structure.
template <typename Visit> void for_each_record(Visit visit)
{
    void *info = boot_info();
    if (!info) return;
    const auto first = reinterpret_cast<L4_Word_t>(info);
    const L4_Word_t size = L4_BootInfo_Size(info);
    L4_BootRec_t *record = L4_BootInfo_FirstEntry(info);
    for (L4_Word_t n = L4_BootInfo_Entries(info); n; n--) {
        const L4_Word_t offset = reinterpret_cast<L4_Word_t>(record) - first;
        if (offset < 20 || offset > size || size - offset < sizeof *record) return;
        if (!visit(record) || !record->X.offset_next) return;
        record = L4_BootRec_Next(record);
    }
}

} // namespace

bool map_physical(L4_Word_t start, L4_Word_t size)
{
    const L4_Word_t first = start & ~(page - 1);
    const L4_Word_t pages = (start - first + size + page - 1) / page;
    for (L4_Word_t i = 0; i < pages; i++)
        if (L4_IsNilFpage(L4_Sigma0_GetPage(L4_nilthread, L4_FpageLog2(first + i * page, 12)))) return false;
    return true;
}

void *boot_info()
{
    static void *mapped;
    static bool tried;
    if (tried) return mapped;
    tried = true;
    const L4_Word_t address = L4_BootInfo(L4_GetKernelInterface());
    if (address == 0 || !map_physical(address, 20)) return nullptr;
    void *info = reinterpret_cast<void *>(address);
    if (!L4_BootInfo_Valid(info) || !map_physical(address, L4_BootInfo_Size(info))) return nullptr;
    return mapped = info;
}

void own_command_line(char *out, size_t size)
{
    const auto here = reinterpret_cast<L4_Word_t>(_start);
    size_t n = 0;
    for_each_record([&](L4_BootRec_t *record) {
        if (record->X.type != L4_BootInfo_SimpleExec) return true;
        if (here - L4_SimpleExec_TextPstart(record) >= L4_SimpleExec_TextSize(record)) return true;
        const char *line = L4_SimpleExec_Cmdline(record);
        for (; line && line[n] && n + 1 < size; n++) out[n] = line[n];
        return false;
    });
    out[n] = 0;
}

bool boot_module(unsigned index, Module &module)
{
    bool found = false;
    for_each_record([&](L4_BootRec_t *record) {
        if (record->X.type != L4_BootInfo_Module || index--) return true;
        const char *line = L4_Module_Cmdline(record);
        module = Module{L4_Module_Start(record), L4_Module_Size(record), line ? line : ""};
        found = true;
        return false;
    });
    return found;
}

} // namespace cobnut
