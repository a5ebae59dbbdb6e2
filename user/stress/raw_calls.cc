// SPDX-License-Identifier: BSD-2-Clause
#include "raw_calls.h"

#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/space.h>

namespace stress::raw {
namespace {

constexpr Word words = 1024;
alignas(4096) constinit Word page[words] = {};

void enter(Word field, L4_Registers_t &registers)
{
    __L4_Call_Entry(reinterpret_cast<Word>(page) + page[field / sizeof(Word)], &registers);
}

} // namespace

void prepare()
{
    if (page[0]) return;
    const auto *original = static_cast<const Word *>(L4_GetKernelInterface());
    for (Word i = 0; i < words; i++) page[i] = original[i];
}

bool resize(L4_ThreadId_t space, Word number)
{
    L4_Registers_t r = {space.raw, L4_SmallSpaceChange | number, 0, 0, 0, 0, 0};
    enter(L4_KIP_SPACE_CONTROL, r);
    return r.eax && (r.ecx & L4_SmallSpaceChange);
}

Word call(L4_ThreadId_t to, Word tag)
{
    // A receive timeout: the kernel's shortest way back could fault and would then be resumed in the interface page.
    const L4_Time_t patience = L4_TimePeriod(1000000);
    L4_Registers_t r = {to.raw, L4_Timeouts(L4_Never, patience), to.raw, tag, 0, 0, 0};
    enter(L4_KIP_IPC, r);
    return r.esi;
}

void unmap(L4_Fpage_t fpage)
{
    L4_Registers_t r = {0, 0, 0, fpage.raw, 0, 0, 0};
    enter(L4_KIP_UNMAP, r);
}

bool create(L4_ThreadId_t thread)
{
    L4_Registers_t r = {thread.raw, 0, thread.raw, thread.raw, ~0u, 0, 0};
    enter(L4_KIP_THREAD_CONTROL, r);
    return r.eax;
}

void remove(L4_ThreadId_t thread)
{
    L4_Registers_t r = {thread.raw, 0, 0, 0, ~0u, 0, 0};
    enter(L4_KIP_THREAD_CONTROL, r);
}

} // namespace stress::raw
