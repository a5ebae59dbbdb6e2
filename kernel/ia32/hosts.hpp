// SPDX-License-Identifier: BSD-2-Clause
// Hosts: page directories that are in force one after the other, and the copies of small spaces' directory entries in
// them. When an exclusive slot is taken from a space, copies of it may stand in every host there is. They are cleared
// at once in the host in force, in any other before it is in force again: taking a slot costs the same with two hosts
// and with a thousand. What each host has still to clear is found by counting revocations (docs/tags.md).
#pragma once

#include "core/space.hpp"

namespace hosts {

// The kernel's own directory: in force before the first large space runs, and when the one in force dies.
extern Host kernel;
// How many slots were revoked since the boot. The fast path compares it with Host::clean.
extern "C" Word revocations;

void initialise();
// The large space whose directory it is; nullptr for the kernel's.
inline const Space* owner(const Host* host) {
    constexpr Word offset = offsetof(Space, arch) + offsetof(ArchSpace, own);
    return host == &kernel ? nullptr : reinterpret_cast<const Space*>(reinterpret_cast<const char*>(host) - offset);
}
// Puts a host in force.
void enter(Host& host);
// Clears what was revoked since the host was in force. Part of enter(); the fast path calls it by itself.
extern "C" void clean_host(Host& host);

// Clears the entries of a range of linear addresses in one host, or in all of them.
void clear_copies(Host& host, const Slot& slot);
// gdb calls it, too (tests/system/test_audit.py): it keeps the convention of a call.
[[gnu::used]] void clear_all_copies(const Slot& slot);

// Boot option revocation=eager: clear_all_copies() walks the hosts at once instead. Kept to be measured
// against (experiment groups/revocation).
extern bool eager;

}  // namespace hosts
