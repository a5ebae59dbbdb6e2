// SPDX-License-Identifier: BSD-2-Clause
// Processor and memory control (manual 6.3, 6.4, A.7).
#ifndef L4_MISC_H
#define L4_MISC_H
#include <l4/space.h>

// Memory attributes. The numbers are those of L4Ka::Pistachio, which compiled programs carry; the manual has others.
#define L4_DefaultMemory 0u
#define L4_WriteBackMemory 1u
#define L4_WriteThroughMemory 2u
#define L4_UncacheableMemory 4u
#define L4_WriteCombiningMemory 5u ///< needs a processor with a page attribute table
#define L4_WriteProtectedMemory 8u ///< likewise

/// Frequencies in kHz, voltage in mV; all ones = no change. Privileged. Returns 1, or 0 with ErrorCode 1 or 5.
L4_INLINE L4_Word_t L4_ProcessorControl(L4_Word_t cpu, L4_Word_t internal, L4_Word_t external, L4_Word_t voltage)
{
    return __L4_Raw_ProcessorControl(cpu, internal, external, voltage);
}

/// Gives the fpages in MR0..MR(control) the attribute that their bits 1..0 choose. Privileged. Returns 1, or 0 with
/// ErrorCode 1 or 5.
L4_INLINE L4_Word_t L4_MemoryControl(L4_Word_t control, const L4_Word_t attributes[4])
{
    return __L4_Raw_MemoryControl(control, attributes);
}
/// Gives one fpage an attribute; returns and errors as MemoryControl.
L4_INLINE L4_Word_t L4_Set_PageAttribute(L4_Fpage_t f, L4_Word_t attribute)
{
    L4_Word_t attributes[4] = {attribute, 0, 0, 0};
    L4_Set_Rights(&f, 0);
    L4_LoadMR(0, f.raw);
    return L4_MemoryControl(0, attributes);
}
/// As many as 64 fpages; their bits 1..0 choose from `attributes`.
L4_INLINE L4_Word_t L4_Set_PagesAttributes(L4_Word_t n, const L4_Fpage_t *fpages, const L4_Word_t attributes[4])
{
    L4_LoadMRs(0, (int)n, &fpages[0].raw);
    return L4_MemoryControl(n - 1, attributes);
}

#endif
