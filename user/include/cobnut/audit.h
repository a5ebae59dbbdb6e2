// SPDX-License-Identifier: BSD-2-Clause
// The kernel's own check of its books, for test programs. A debug call of this kernel only; for the initial servers.
#ifndef COBNUT_AUDIT_H
#define COBNUT_AUDIT_H
#include <l4/arch.h>

namespace cobnut {

struct Audit {
    L4_Word_t faults;  ///< what does not agree; the kernel has printed the first few
    L4_Word_t pages;   ///< kernel pages in use, those of its pools of small objects left out
    L4_Word_t objects; ///< threads and mappings that there are
    L4_Word_t unused;  ///< kernel pages that are neither of those in use nor in pools
};

inline Audit audit()
{
    Audit a;
    __L4_KDB_GET_AUDIT(a.faults, a.pages, a.objects, a.unused);
    return a;
}

} // namespace cobnut
#endif
