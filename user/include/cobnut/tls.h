// SPDX-License-Identifier: BSD-2-Clause
// TlsControl, Cobnut's own system call on IA-32 (docs/x2-ia32.md, 14.1): a segment of a thread's own, for programs that
// expect their thread-local storage behind FS or GS. Kernels that have it say so by the feature string "tlscontrol".
#ifndef COBNUT_TLS_H
#define COBNUT_TLS_H
#include <l4/thread.h>

enum { COBNUT_KIP_TLS_CONTROL = 0x110 };

/// The segment of thread `dest` starts at `base` in its space; all ones: it has none any more. *selector is what the
/// thread loads into FS or GS. For threads of the caller's space, for threads whose pager lives there, and for the
/// privileged. Returns 1, or 0 with ErrorCode 1 (not permitted), 2 (no such thread) or 5 (no user address).
L4_INLINE L4_Word_t Cobnut_TlsControl(L4_ThreadId_t dest, L4_Word_t base, L4_Word_t *selector)
{
    L4_Registers_t r = {dest.raw, base, 0, 0, 0, 0, 0};
    __L4_Call_Stub(COBNUT_KIP_TLS_CONTROL, &r);
    if (selector) *selector = r.ecx;
    return r.eax;
}

#endif
