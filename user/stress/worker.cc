// SPDX-License-Identifier: BSD-2-Clause
#include "worker.h"

#include "family.h"

#include <l4/ipc.h>
#include <l4/schedule.h>
#include <l4/space.h>
#include <l4/string.h>

namespace stress {
namespace {

constexpr L4_Word_t exception_label = 0xFFB0;

volatile L4_Word_t &word_at(L4_Word_t address) { return *reinterpret_cast<volatile L4_Word_t *>(address); }

/// Calls code, which gets its address. What comes back first counts; KernelInterface leaves more in other registers.
L4_Word_t call(L4_Word_t code)
{
#ifdef __arm__
    register L4_Word_t result __asm__("r0") = code;
    __asm__ volatile("mov lr, pc\n\tmov pc, r0"
                     : "+r"(result)
                     :
                     : "r1", "r2", "r3", "r8", "r9", "r10", "r12", "lr", "memory", "cc");
#else
    L4_Word_t result;
    __asm__ volatile("call *%1" : "=a"(result) : "b"(code) : "ecx", "edx", "esi", "memory", "cc");
#endif
    return result;
}

#ifdef __arm__

L4_Word_t reflect(L4_ThreadId_t peer, L4_Word_t)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = static_cast<L4_Word_t>(nothing) << 16});
    return L4_IpcFailed(L4_Call(peer));
}
void answer_exception() {}

#else

/// A call as programs of other systems make it.
L4_Word_t reflect(L4_ThreadId_t peer, L4_Word_t third)
{
    constexpr L4_Word_t number = 20;
    L4_Word_t result = number;
    L4_Set_ExceptionHandler(peer);
    __asm__ volatile("int $0x80" : "+a"(result) : "b"(third) : "memory", "cc");
    L4_Set_ExceptionHandler(L4_Pager());
    return result != number + 1;
}
/// The next instruction, with the next number in EAX if all went well.
void answer_exception()
{
    constexpr int ip = 1, ebx = 9, eax = 12;
    L4_Word_t mr[13];
    L4_StoreMRs(0, 13, mr);
    if (mr[ebx]) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = static_cast<L4_Word_t>(nothing) << 16});
        if (L4_IpcFailed(L4_Call(L4_ThreadId_t{.raw = mr[ebx]}))) mr[eax]++;
    }
    mr[0] = 12;
    mr[ip] += 2;
    mr[eax]++;
    L4_LoadMRs(0, 13, mr);
}

#endif

L4_Word_t send_item(const L4_Word_t *x)
{
    const L4_Word_t label = x[3] ? do_write : nothing, target = x[1] & ~0x3FFu;
    const L4_Word_t mr[] = {label << 16 | 2u << 6 | 2, target, x[3], x[1], x[2]};
    L4_LoadMRs(0, 5, mr);
    return L4_IpcFailed(L4_Call(L4_ThreadId_t{.raw = x[0]}));
}

L4_Word_t obey(L4_Word_t command, L4_Word_t *x)
{
    switch (command) {
    case do_read: return word_at(x[0]);
    case do_write: word_at(x[0]) = x[1]; return 0;
    case do_unmap: {
        L4_LoadMR(0, x[0]);
        L4_Unmap(x[1]);
        const L4_Word_t status = L4_MsgTag().raw;
        if (x[2] && x[3]) word_at(x[2]) = x[3];
        else if (x[2]) x[3] = word_at(x[2]);
        return status;
    }
    case do_send:
        // First without the item: a small space that sends it then runs on the receiver's page directory.
        L4_Set_MsgTag(L4_MsgTag_t{.raw = static_cast<L4_Word_t>(nothing) << 16});
        if (L4_IpcFailed(L4_Call(L4_ThreadId_t{.raw = x[0]}))) return 1;
        return x[1] ? send_item(x) : 0;
    case do_run: return call(x[0]);
    case do_accept: {
        const L4_StringItem_t buffer = L4_StringItem(x[1], reinterpret_cast<void *>(x[0]));
        L4_Accept(L4_AddAcceptor(L4_MapGrantItems(L4_CompleteAddressSpace), L4_StringItemsAcceptor));
        L4_LoadBRs(1, 2, buffer.raw);
        return 0;
    }
    case do_string: {
        const L4_StringItem_t string = L4_StringItem(x[2], reinterpret_cast<void *>(x[1]));
        const L4_Word_t mr[] = {static_cast<L4_Word_t>(nothing) << 16 | 2u << 6, string.raw[0], string.raw[1]};
        L4_LoadMRs(0, 3, mr);
        return L4_IpcFailed(L4_Call(L4_ThreadId_t{.raw = x[0]}));
    }
    case do_probe: return word_at(place_address(probed));
    case do_yield: L4_Yield(); return 0;
    case do_reflect: return reflect(L4_ThreadId_t{.raw = x[0]}, x[1]);
    default: return 0;
    }
}

} // namespace

void worker_main()
{
    L4_Set_ExceptionHandler(L4_Pager());
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    L4_ThreadId_t from;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = answer << 16});
    L4_MsgTag_t tag = L4_Ipc(L4_Pager(), L4_anythread, L4_Timeouts(L4_Never, L4_Never), &from);
    for (;;) {
        if (L4_IpcFailed(tag)) {
            tag = L4_Wait(&from);
            continue;
        }
        if (L4_Label(tag) == nothing) {
            L4_Set_MsgTag(L4_MsgTag_t{.raw = answer << 16});
        } else if (L4_Label(tag) == exception_label) {
            answer_exception();
        } else {
            L4_Word_t x[4];
            L4_StoreMRs(1, 4, x);
            const L4_Word_t result = obey(L4_Label(tag), x);
            L4_Set_MsgTag(L4_MsgTag_t{.raw = answer << 16 | 2});
            L4_LoadMR(1, result);
            L4_LoadMR(2, x[3]);
        }
        tag = L4_ReplyWait(from, &from);
    }
}

} // namespace stress
