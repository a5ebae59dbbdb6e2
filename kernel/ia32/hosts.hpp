// SPDX-License-Identifier: BSD-2-Clause
// Hosts: the page directories that are loaded into CR3, and the copies of small spaces' directory entries in them.
// When an exclusive slot is revoked, any host may hold copies of its entries. They are cleared at once in the host in
// force, and in any other before it is in force again: a revocation costs the same with two hosts and with a thousand.
// A count of revocations tells what a host has still to clear (docs/tags.md).
#pragma once

#include "core/space.hpp"

namespace hosts {

// The kernel's own directory: in force before the first large space runs, and after the host in force has been freed.
extern Host kernel;
// How many slots were revoked since the boot. The fast path compares it with Host::clean.
extern "C" Word revocations;

void initialise();
// The large space that owns the directory; nullptr for the kernel's.
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
