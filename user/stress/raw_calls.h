// SPDX-License-Identifier: BSD-2-Clause
// System calls that touch neither the UTCB nor the kernel interface page: those of the root space lie far beyond a
// small space's end. The code of the stubs is called in a copy of the page.
#ifndef COBNUT_STRESS_RAW_CALLS_H
#define COBNUT_STRESS_RAW_CALLS_H
#include "model.h"

#include <l4/types.h>

namespace stress::raw {

/// Copies the page, unless that is done; before the others are used.
void prepare();
/// SpaceControl: another small-space number. True if the kernel took it.
bool resize(L4_ThreadId_t space, Word number);
/// A call with a message that is its tag alone; the tag of the answer, or of the partner's page fault.
Word call(L4_ThreadId_t to, Word tag);
/// Unmap of one fpage, from others.
void unmap(L4_Fpage_t fpage);
/// ThreadControl: makes a thread, not active, in a space of its own.
bool create(L4_ThreadId_t thread);
/// ThreadControl: deletes a thread.
void remove(L4_ThreadId_t thread);

} // namespace stress::raw
#endif
