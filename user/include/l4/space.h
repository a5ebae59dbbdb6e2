// SPDX-License-Identifier: BSD-2-Clause
// Address spaces: Unmap, SpaceControl, I/O fpages, small spaces (manual 4.1 to 4.3, A.4, A.5).
#ifndef L4_SPACE_H
#define L4_SPACE_H
#include <l4/message.h>
#include <l4/thread.h>

/// The system call on fpages that already lie in MR0..MR(control & 63): revokes their rights bits in all spaces that
/// got the pages from this one, and with bit 6 (flush) here too. Afterwards the MRs hold the fpages with the status
/// (referenced, written, executed) in place of the rights.
L4_INLINE void L4_Unmap(L4_Word_t control) { __L4_Raw_Unmap(control, 0); }
L4_INLINE L4_Fpage_t __L4_UnmapOne(L4_Fpage_t f, L4_Word_t control)
{
    L4_LoadMR(0, f.raw);
    L4_Unmap(control);
    L4_StoreMR(0, &f.raw);
    return f;
}
/// Revoke the fpages' rights in all spaces but this one, Flush in this one, too. The results carry the status bits.
L4_INLINE L4_Fpage_t L4_UnmapFpage(L4_Fpage_t f) { return __L4_UnmapOne(f, 0); }
L4_INLINE void L4_UnmapFpages(L4_Word_t n, L4_Fpage_t *fpages)
{
    L4_LoadMRs(0, (int)n, &fpages[0].raw);
    L4_Unmap((n - 1) & 0x3Fu);
    L4_StoreMRs(0, (int)n, &fpages[0].raw);
}
L4_INLINE L4_Fpage_t L4_Flush(L4_Fpage_t f) { return __L4_UnmapOne(f, 0x40); }
L4_INLINE void L4_FlushFpages(L4_Word_t n, L4_Fpage_t *fpages)
{
    L4_LoadMRs(0, (int)n, &fpages[0].raw);
    L4_Unmap(0x40u | ((n - 1) & 0x3Fu));
    L4_StoreMRs(0, (int)n, &fpages[0].raw);
}
/// Reads and resets the status bits without revoking anything.
L4_INLINE L4_Fpage_t L4_GetStatus(L4_Fpage_t f) { return __L4_UnmapOne(L4_FpageRemoveRights(f, 7), 0); }
/// The status bits of a result of the functions above.
L4_INLINE L4_Bool_t L4_WasReferenced(L4_Fpage_t f) { return (f.raw & 4u) != 0; }
L4_INLINE L4_Bool_t L4_WasWritten(L4_Fpage_t f) { return (f.raw & 2u) != 0; }
L4_INLINE L4_Bool_t L4_WaseXecuted(L4_Fpage_t f) { return (f.raw & 1u) != 0; }

/// Sets up the space of thread `space`: control (below), kernel interface page and UTCB areas, redirector (nil =
/// unchanged, anythread = none). Privileged. Returns 1, or 0 with ErrorCode 1, 3, 6 or 7. *old_control: bit 31 says
/// whether a change of the small-space number took effect, bits 7..0 are the old number.
L4_INLINE L4_Word_t L4_SpaceControl(L4_ThreadId_t space, L4_Word_t control, L4_Fpage_t kip, L4_Fpage_t utcb,
                                    L4_ThreadId_t redirector, L4_Word_t *old_control)
{
    L4_Word_t result = __L4_Raw_SpaceControl(space.raw, &control, kip.raw, &utcb.raw, redirector.raw);
    if (old_control) *old_control = control;
    return result;
}

/// The same, and tells where the UTCB area is: *utcb is the area wanted, and then the one that the kernel has chosen.
/// On IA-32 the two agree; on ARM only the size is the caller's choice (docs/x2-arm.md).
L4_INLINE L4_Word_t Cobnut_SpaceControl(L4_ThreadId_t space, L4_Word_t control, L4_Fpage_t kip, L4_Fpage_t *utcb,
                                        L4_ThreadId_t redirector, L4_Word_t *old_control)
{
    L4_Word_t result = __L4_Raw_SpaceControl(space.raw, &control, kip.raw, &utcb->raw, redirector.raw);
    if (old_control) *old_control = control;
    return result;
}

/// Small-space numbers for bits 7..0 of the control word; combine with L4_SmallSpaceChange.
#define L4_LargeSpace 0u
#define L4_SmallSpaceChange 0x80000000u
/// Both in MB; size is 4 * 2^p, location a multiple of size.
L4_INLINE L4_Word_t L4_SmallSpace(L4_Word_t location, L4_Word_t size)
{
    return (((location >> 1) & ~((size >> 2) - 1)) | (size >> 2)) & 0xFFu;
}

// ------------------------------------------------------------------------------------------ I/O fpages (A.4)
/// Ports port .. port + 2^log2size - 1.
L4_INLINE L4_Fpage_t L4_IoFpageLog2(L4_Word_t port, int log2size)
{
    return L4_RAW_(L4_Fpage_t, (port << 16) | ((L4_Word_t)log2size << 10) | 0x20u);
}
/// The same for at least `size` ports.
L4_INLINE L4_Fpage_t L4_IoFpage(L4_Word_t port, int size)
{
    int log2 = 0;
    while ((1 << log2) < size) log2++;
    return L4_IoFpageLog2(port, log2);
}
/// First port and number of ports; whether f is an I/O fpage.
L4_INLINE L4_Word_t L4_IoFpagePort(L4_Fpage_t f) { return f.raw >> 16; }
L4_INLINE L4_Word_t L4_IoFpageSizeLog2(L4_Fpage_t f) { return (f.raw >> 10) & 0x3Fu; }
L4_INLINE L4_Word_t L4_IoFpageSize(L4_Fpage_t f) { return 1u << L4_IoFpageSizeLog2(f); }
L4_INLINE L4_Bool_t L4_IsIoFpage(L4_Fpage_t f) { return ((f.raw >> 4) & 0x3Fu) == 2; }

#ifdef __cplusplus
L4_INLINE L4_Fpage_t L4_Unmap(L4_Fpage_t f) { return L4_UnmapFpage(f); }
L4_INLINE void L4_Unmap(L4_Word_t n, L4_Fpage_t *fpages) { L4_UnmapFpages(n, fpages); }
L4_INLINE void L4_Flush(L4_Word_t n, L4_Fpage_t *fpages) { L4_FlushFpages(n, fpages); }
L4_INLINE L4_Word_t L4_SpaceControl(L4_ThreadId_t space, L4_Word_t control, L4_Fpage_t kip, L4_Fpage_t utcb,
                                    L4_ThreadId_t redirector, L4_Word_t &old_control)
{
    return L4_SpaceControl(space, control, kip, utcb, redirector, &old_control);
}
#endif

#endif
