// SPDX-License-Identifier: BSD-2-Clause
// The kernel interface page (manual 1.1; sheet 2): one page, visible in every space. A boot loader may have patched
// some of its fields in the kernel's image before the kernel runs.
#pragma once

#include "arch/context.hpp"
#include "core/x2.hpp"

namespace kip {

constexpr unsigned area_log2 = 12;
constexpr Word system_base = arch::interrupt_lines;     // the first thread number that is no interrupt
constexpr Word user_base = 48;

// Initial servers, as the loader describes them. `high` is exclusive. Empty: not to be started.
struct Server {
    Word sp, ip, low, high;
};

// Memory descriptor types (manual 1.1); the upper nibble is the subtype of the types 0xe and 0xf.
enum MemoryType : Word {
    conventional = 1,
    reserved = 2,
    dedicated = 3,
    shared = 4,
    boot_loader = 0xe,
    arch_specific = 0xf,
    virtual_memory = 1 << 9     // a flag: addresses of users
};

struct MemoryDescriptor {
    Word low;       // first byte | virtual_memory | subtype << 4 | type
    Word high;      // last byte | 0x3ff

    Word first() const { return low & ~Word{0x3ff}; }
    Word last() const { return high | 0x3ff; }
    Word type() const { return low & 0xf; }
    Word type_and_subtype() const { return low & 0xff; }
    bool is_virtual() const { return low & virtual_memory; }
};

struct Kip {
    Word magic;             // 0x00 'L' '4' 0xe6 'K'
    Word api_version;       // 0x04
    Word api_flags;         // 0x08
    Word kernel_desc;       // 0x0c offset
    Word kdebug[4];         // 0x10
    Server sigma0;          // 0x20
    Server sigma1;          // 0x30
    Server root;            // 0x40
    Word reserved0;         // 0x50
    Word memory_info;       // 0x54 offset << 16 | number of descriptors
    Word kdebug_config[2];  // 0x58
    Word unused[18];        // 0x60
    Word utcb_info;         // 0xa8
    Word kip_area_info;     // 0xac
    Word unused2[2];        // 0xb0
    Word boot_info;         // 0xb8
    Word processor_desc;    // 0xbc offset
    Word clock_info;        // 0xc0
    Word thread_info;       // 0xc4
    Word page_info;         // 0xc8
    Word processor_info;    // 0xcc
    Word space_control;     // 0xd0 offsets of the system calls
    Word thread_control;
    Word processor_control;
    Word memory_control;
    Word ipc;
    Word lipc;
    Word unmap;
    Word exchange_registers;
    Word system_clock;
    Word thread_switch;
    Word schedule;          // 0xf8
    Word reserved1[5];      // 0xfc
    Word arch_syscall[4];   // 0x110 offsets of the port's own system calls
    struct Processor {
        Word external_khz, internal_khz, reserved[2];
    } processor[1];         // 0x120
};
static_assert(offsetof(Kip, sigma0) == 0x20 && offsetof(Kip, memory_info) == 0x54);
static_assert(offsetof(Kip, utcb_info) == 0xa8 && offsetof(Kip, boot_info) == 0xb8);
static_assert(offsetof(Kip, space_control) == 0xd0 && offsetof(Kip, schedule) == 0xf8 &&
              offsetof(Kip, arch_syscall) == 0x110);
static_assert(offsetof(Kip, processor) == 0x120);

constexpr Word descriptors_room = 0x480;        // bytes, as ia32/kip.S lays the page out

extern "C" Kip kip;     // page aligned; ia32/kip.S

// How far into the page something of it stands.
inline Word offset(const void* place) {
    return static_cast<Word>(static_cast<const char*>(place) - reinterpret_cast<const char*>(&kip));
}
inline MemoryDescriptor* descriptors() {
    return reinterpret_cast<MemoryDescriptor*>(reinterpret_cast<char*>(&kip) + (kip.memory_info >> 16));
}
inline Word descriptor_count() { return kip.memory_info & 0xffff; }
// Appends one, of whole units of 1 KB; false when the page has no room.
bool describe(Word type_and_subtype, Word first, Word last);
// What a physical page is, by the last descriptor that covers it.
Word memory_type(Word address);

}  // namespace kip
