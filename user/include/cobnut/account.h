// SPDX-License-Identifier: BSD-2-Clause
// What spaces hold of kernel memory, and how much they may (docs/kernel-memory.md). For threads of the initial servers'
// spaces, like all of SpaceControl.
#pragma once

#include <cobnut/tags.h>

namespace cobnut {

/// Limits that are no number of pages: a share of what is left, which spaces have at first; and none at all.
inline constexpr unsigned fair_share = 0, no_limit = 0xFFFFF;

namespace detail {

inline constexpr L4_Word_t limit_operation = 3, used_operation = 4;

inline unsigned account_pages(L4_Word_t word) { return word >> 8 & 0xFFFFF; }

} // namespace detail

/// How many pages of kernel memory the space of a thread may hold. Less than it holds takes nothing away from it. False
/// if there is no such thread.
inline bool limit_kernel_memory(L4_ThreadId_t space, unsigned pages)
{
    return detail::change(space, detail::limit_operation, pages);
}

inline unsigned kernel_memory_limit(L4_ThreadId_t space)
{
    return detail::account_pages(detail::control(space, detail::limit_operation));
}

/// How many it holds, rounded up.
inline unsigned kernel_memory_used(L4_ThreadId_t space)
{
    return detail::account_pages(detail::control(space, detail::used_operation));
}

} // namespace cobnut
