// SPDX-License-Identifier: BSD-2-Clause
// What the parts of crowd share. Members run code of their own (members.S), each its own copy in a space of its own;
// root tells them by the answer to their calls what to do.
#pragma once

#include <l4/types.h>

using Word = L4_Word_t;

namespace crowd {

inline constexpr Word most_members = 65, most_readers = 16, most_pages = 64;
inline constexpr Word page_size = 4096, mb = 1u << 20;

// A member's megabyte.
inline constexpr Word code_offset = 0, stack_offset = page_size, kip_offset = mb - page_size;
inline constexpr Word stack_top_offset = stack_offset + page_size - 16;
inline constexpr Word alike_base = 4 * mb, collide_base = 0x84000000, slot_bytes = 32 * mb;
inline constexpr Word apart_base = 0x80000000; // member i's is i MB on
inline constexpr Word private_base = 0x90000000, shared_base = 0x8F000000; // pages to read: reader i's i MB on, or all

/// members.S: position-independent, less than a page, and where in it the members start.
extern "C" const unsigned char crowd_code[], crowd_code_end[];
extern "C" const unsigned char crowd_server[], crowd_client[], crowd_reader[];

// Label of a member's call to root for orders, what was ordered before done (members.S has the same). If a call of its
// own fails, it sends cobnut::failed_label and that call's tag.
inline constexpr Word ready_label = 0x0C01;

} // namespace crowd
