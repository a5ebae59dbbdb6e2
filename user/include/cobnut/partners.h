// SPDX-License-Identifier: BSD-2-Clause
// What root servers have in common that measure between threads in spaces of a kind that was asked
// for: they make them, start them, and see in the end that the spaces are of that kind still. A call
// that fails ends the run (cobnut/root.h).
#ifndef COBNUT_PARTNERS_H
#define COBNUT_PARTNERS_H
#include <cobnut/root.h>
#include <cobnut/space.h>

namespace cobnut {

/// The thread `id`, active, in the space of `space`: itself for a new one, which is large, with these
/// areas. The UTCB is the one of this index in its area, and is named before the space has the area.
/// The caller is its pager.
inline void make_thread(L4_ThreadId_t id, L4_ThreadId_t space, L4_Fpage_t kip, L4_Fpage_t utcbs, unsigned index = 0)
{
    constexpr L4_Word_t utcb_size = 512;
    const L4_ThreadId_t me = L4_Myself();
    if (!L4_ThreadControl(id, space, me, L4_nilthread, reinterpret_cast<void *>(L4_Address(utcbs) + index * utcb_size)))
        fail("ThreadControl", id.raw, L4_ErrorCode());
    if (id == space && !L4_SpaceControl(id, L4_SmallSpaceChange | L4_LargeSpace, kip, utcbs, L4_nilthread, nullptr))
        fail("SpaceControl", id.raw, L4_ErrorCode());
    if (!L4_ThreadControl(id, space, me, me, reinterpret_cast<void *>(-1)))
        fail("ThreadControl to activate", id.raw, L4_ErrorCode());
}

/// The slot of `slot_mb` with this index, by its name in SpaceControl.
inline void make_small(L4_ThreadId_t id, unsigned index, unsigned slot_mb)
{
    const L4_Word_t slot = L4_SmallSpace(index * slot_mb, slot_mb);
    L4_Word_t old = 0;
    if (!L4_SpaceControl(id, L4_SmallSpaceChange | slot, L4_Nilpage, L4_Nilpage, L4_nilthread, &old))
        fail("SpaceControl to make a space small", id.raw, L4_ErrorCode());
    if (!(old & L4_SmallSpaceChange)) fail("no room for a small space", id.raw, slot);
}

/// A space that was promoted during the run has measured something else.
inline void check_still(L4_ThreadId_t id, bool small, unsigned index, unsigned slot_mb)
{
    L4_Word_t old = 0;
    L4_SpaceControl(id, 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    if ((old & 0xFF) != (small ? L4_SmallSpace(index * slot_mb, slot_mb) : L4_LargeSpace))
        fail("a space has changed its kind", id.raw, old);
}

/// At `ip`, with a stack that ends at `top`.
inline void start(L4_ThreadId_t id, void (*ip)(), unsigned char *top)
{
    const L4_Word_t error = cobnut_start(id, reinterpret_cast<L4_Word_t>(ip), reinterpret_cast<L4_Word_t>(top) - 16);
    if (error) fail("start message", id.raw, error);
}

} // namespace cobnut
#endif
