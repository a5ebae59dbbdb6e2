// SPDX-License-Identifier: BSD-2-Clause
// Requests to sigma0, the pager that owns all physical memory (manual chapter 7, Sigma0 RPC protocol).
#ifndef L4_SIGMA0_H
#define L4_SIGMA0_H
#include <l4/ipc.h>
#include <l4/kip.h>

#define L4_SIGMA0_LABEL 0xFFA0u          ///< label of requests
#define L4_SIGMA0_EXTENDED_LABEL 0xC170u ///< verbosity and dump, for the root server

/// Asks sigma0 (nil: the first user thread) for the memory of fpage f; if its base is all ones, for any free memory
/// of that size. It arrives in `window`. Returns the fpage as sent, Nilpage if refused or if the IPC failed.
L4_INLINE L4_Fpage_t L4_Sigma0_GetPage_RcvWindow(L4_ThreadId_t sigma0, L4_Fpage_t f, L4_Fpage_t window)
{
    L4_Word_t base;
    L4_Fpage_t granted;
    L4_MsgTag_t tag;
    if (L4_IsNilThread(sigma0)) sigma0 = L4_GlobalId(L4_ThreadIdUserBase(L4_GetKernelInterface()), 1);
    L4_Accept(L4_MapGrantItems(window));
    L4_LoadMR(0, (L4_SIGMA0_LABEL << 16) | 2u);
    L4_LoadMR(1, f.raw);
    L4_LoadMR(2, 0);
    tag = L4_Call(sigma0);
    L4_StoreMR(1, &base);
    L4_StoreMR(2, &granted.raw);
    L4_Accept(L4_UntypedWordsAcceptor);
    if (L4_IpcFailed(tag) || L4_TypedWords(tag) != 2) return L4_Nilpage;
    return granted;
}
/// Window = the complete address space: memory appears at its physical address.
L4_INLINE L4_Fpage_t L4_Sigma0_GetPage(L4_ThreadId_t sigma0, L4_Fpage_t f)
{
    return L4_Sigma0_GetPage_RcvWindow(sigma0, f, L4_CompleteAddressSpace);
}
/// Any free conventional memory of 2^log2size bytes; size >= 4 KB.
L4_INLINE L4_Fpage_t L4_Sigma0_GetAny(L4_ThreadId_t sigma0, L4_Word_t log2size, L4_Fpage_t window)
{
    return L4_Sigma0_GetPage_RcvWindow(sigma0, L4_FpageLog2(~0u, (int)log2size), window);
}

#ifdef __cplusplus
L4_INLINE L4_Fpage_t L4_Sigma0_GetPage(L4_ThreadId_t sigma0, L4_Fpage_t f, L4_Fpage_t window)
{
    return L4_Sigma0_GetPage_RcvWindow(sigma0, f, window);
}
#endif

#endif
