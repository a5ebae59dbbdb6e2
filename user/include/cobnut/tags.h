// SPDX-License-Identifier: BSD-2-Clause
// Small-space slots beyond what the manual's control word can say (docs/tags.md): what the kernel has chosen by itself,
// sizes below 4 MB, groups by hand. For threads of the initial servers' spaces, like all of SpaceControl.
#pragma once

#include <l4/space.h>
#include <l4/thread.h>

namespace cobnut {

/// The tag of a space.
struct Tag {
    unsigned offset_mb; ///< from the start of the small-space area
    unsigned size_mb; ///< 0: none, the space is large
    bool bound; ///< only in the page directory of a large space, its group's leader
    bool pinned; ///< asked for by SpaceControl: the kernel leaves it as it is
};

namespace detail {

inline constexpr L4_Word_t own_control = 1u << 28;

inline L4_Word_t control(L4_ThreadId_t space, L4_Word_t word)
{
    L4_Word_t old = 0;
    L4_SpaceControl(space, own_control | word, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    return old;
}

inline bool change(L4_ThreadId_t space, L4_Word_t operation, L4_Word_t argument)
{
    return control(space, L4_SmallSpaceChange | argument << 8 | operation) & L4_SmallSpaceChange;
}

} // namespace detail

/// The tag of a thread's space; all zero if there is no such thread.
inline Tag tag_of(L4_ThreadId_t space)
{
    const L4_Word_t word = detail::control(space, 0), log2 = word >> 12 & 0xF;
    return {word >> 16 & 0xFFF, log2 ? 1u << (log2 - 1) : 0, bool(word >> 11 & 1), bool(word >> 10 & 1)};
}

/// The kernel decides again, after SpaceControl has asked for a slot or for none.
inline bool leave_to_kernel(L4_ThreadId_t space) { return detail::change(space, 0, 0); }

/// Binds a space to the page directory of the large space that `leader` runs in, or to the one that this is bound to.
/// False if it does not fit there.
inline bool bind(L4_ThreadId_t space, L4_ThreadId_t leader) { return detail::change(space, 1, L4_ThreadNo(leader)); }

/// A slot of 2^log2_mb MB (0 to 8), wherever one is free; false if there is none.
inline bool give_slot(L4_ThreadId_t space, unsigned log2_mb) { return detail::change(space, 2, log2_mb); }

} // namespace cobnut
