// SPDX-License-Identifier: BSD-2-Clause
// A thread in a space of its own, for root servers (ThreadControl and SpaceControl are theirs), in C and C++.
#ifndef COBNUT_SPACE_H
#define COBNUT_SPACE_H
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/schedule.h>
#include <l4/space.h>

/// Where the kernel interface page and the UTCBs are in spaces made here. The pager cannot map anything there.
enum { COBNUT_KIP_ADDRESS = 0x00100000, COBNUT_UTCB_ADDRESS = 0x00110000, COBNUT_UTCB_LOG2 = 16 };

/// Makes the thread `id`, whose number is free, the first of a new space without any pages. It waits for `pager` to
/// start it. Its UTCB is the first of the area *utcbs (may be null): at COBNUT_UTCB_ADDRESS on IA-32, where the
/// kernel puts it on ARM. Returns 0, or the ErrorCode (manual 2.4, 4.3), and then there is no such thread. The space
/// is removed with its last thread.
L4_INLINE L4_Word_t cobnut_make_space(L4_ThreadId_t id, L4_ThreadId_t pager, L4_Fpage_t *utcbs)
{
    const L4_ThreadId_t me = L4_Myself(), nobody = L4_nilthread;
    const L4_Fpage_t kip = L4_FpageLog2(COBNUT_KIP_ADDRESS, (int)L4_KipAreaSizeLog2(L4_GetKernelInterface()));
    L4_Fpage_t area = L4_FpageLog2(COBNUT_UTCB_ADDRESS, COBNUT_UTCB_LOG2);
    L4_Word_t error;
    if (utcbs) *utcbs = L4_Nilpage;
    /* not active yet: the new space has no UTCBs, where the thread's would be */
    if (!L4_ThreadControl(id, id, me, nobody, (void *)-1)) return L4_ErrorCode();
    if (Cobnut_SpaceControl(id, 0, kip, &area, nobody, 0) &&
        L4_ThreadControl(id, id, me, pager, (void *)L4_Address(area))) {
        if (utcbs) *utcbs = area;
        return 0;
    }
    error = L4_ErrorCode();
    L4_ThreadControl(id, nobody, nobody, nobody, (void *)-1);
    return error;
}

/// Starts a new thread at `ip` with the stack pointer `sp`, by the message that it waits for (manual 7.1): the caller
/// is its pager. Returns 0, or the ErrorCode of the IPC, for example after a second in which it has not waited.
L4_INLINE L4_Word_t cobnut_start(L4_ThreadId_t id, L4_Word_t ip, L4_Word_t sp)
{
    L4_Set_MsgTag(L4_RAW_(L4_MsgTag_t, 2u)); /* two words */
    L4_LoadMR(1, ip);
    L4_LoadMR(2, sp);
    return L4_IpcFailed(L4_Send_Timeout(id, L4_TimePeriod(1000000))) ? L4_ErrorCode() : 0;
}

#endif
