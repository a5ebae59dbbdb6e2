// SPDX-License-Identifier: BSD-2-Clause
// Descriptor tables (processor manual volume 3, chapter 3): the GDT, of which the user half is the running space's,
// the interrupt table, and the task segments.
#pragma once

#include "core/x2.hpp"
#include "ia32/layout.hpp"

struct Descriptor {
    Word low, high;
};

enum DescriptorBits : Word {
    desc_granular = 1u << 23,
    desc_32bit = 1u << 22,
    desc_present = 1u << 15,
    desc_user = 3u << 13,
    desc_code = 0x1b << 8,          // non-system, execute/read, accessed
    desc_data = 0x13 << 8,          // non-system, read/write, accessed
    desc_data_down = 0x17 << 8,     // likewise, but the valid offsets are those above the limit
    desc_read_only = 0x11 << 8,     // non-system, read, accessed
    desc_tss = 0x09 << 8,
};
// User code and user data descriptors of one space differ by this.
constexpr Word desc_code_not_data = desc_code ^ desc_data;
static_assert(desc_code_not_data == 0x800);
constexpr Word desc_expands_down = desc_data ^ desc_data_down;

// `limit` is the last valid offset, in bytes below 1 MB, else its last page.
constexpr Descriptor segment(Word base, Word limit, Word bits) {
    Word field = bits & desc_granular ? limit >> 12 : limit;
    return {
        (base & 0xffff) << 16 | (field & 0xffff), (base & 0xff000000) | (field & 0xf0000) | (base >> 16 & 0xff) | bits};
}

// One 64-byte line: null, kernel code and data, user code and data, the UTCB word, the task segment, the running
// thread's TLS; and the double fault's task segment.
struct alignas(64) Gdt {
    Descriptor entry[9];
};
extern "C" Gdt gdt;

namespace descriptors {
// Loads GDT, interrupt table and task register. The gate of the IPC call leads to `ipc`, or, without that, where the
// other system calls' lead.
void initialise(void (*ipc)());
}
