// SPDX-License-Identifier: BSD-2-Clause
// The value types of the X.2 interface: thread ids, times, fpages, message tags and error codes, exactly as they
// stand in registers and message words. No hardware, no state: this header also compiles on the host.
#pragma once

#include <cstddef>
#include <cstdint>

using Word = std::uint32_t;
using PAddr = std::uint32_t;        // physical address
using VAddr = std::uint32_t;        // address inside a space, before any segment base is added
using Microseconds = std::uint64_t;

constexpr Word page_size = 4096;
constexpr Word page_mask = page_size - 1;
constexpr unsigned page_log2 = 12;

// Thread ids (manual 2.1). A global id is a thread number and a version; a local id is the UTCB address of a
// thread of the caller's own space; nilthread counts as neither here.
struct ThreadId {
    Word raw;

    static constexpr unsigned version_bits = 14;
    static constexpr unsigned number_bits = 18;

    static constexpr ThreadId global(Word number, Word version) { return {number << version_bits | version}; }
    static constexpr ThreadId nil() { return {0}; }
    static constexpr ThreadId any() { return {~Word{0}}; }
    static constexpr ThreadId any_local() { return {~Word{0x3f}}; }

    constexpr Word number() const { return raw >> version_bits; }
    constexpr Word version() const { return raw & ((1u << version_bits) - 1); }
    constexpr bool is_nil() const { return raw == 0; }
    constexpr bool is_any() const { return raw == any().raw; }
    constexpr bool is_any_local() const { return raw == any_local().raw; }
    constexpr bool is_local() const { return raw != 0 && (raw & 0x3f) == 0; }
    constexpr bool is_global() const { return (raw & 0x3f) != 0; }
    constexpr bool operator==(const ThreadId&) const = default;
};
static_assert(sizeof(ThreadId) == sizeof(Word));

// Times (manual 3.3): 16 bits, a period m * 2^e or a point in time.
struct Time {
    std::uint16_t raw;

    static constexpr Time never() { return {0}; }
    static constexpr Time zero() { return {0x0400}; }

    constexpr bool is_never() const { return raw == 0; }
    constexpr bool is_point() const { return raw >> 15; }
    constexpr Word mantissa() const { return raw & 0x3ff; }
    // A period of nothing in any spelling: mantissa 0 with an exponent.
    constexpr bool is_zero() const { return !is_point() && !is_never() && mantissa() == 0; }
    constexpr Microseconds period() const { return Microseconds{mantissa()} << (raw >> 10 & 0x1f); }
    // The clock value that a point stands for, seen at clock `now` (sheet 1.2).
    constexpr Microseconds point(Microseconds now) const {
        unsigned e = raw >> 11 & 0xf;
        Microseconds carry = raw >> 10 & 1;
        Microseconds high = now >> (e + 10);
        if ((high & 1) != carry) high += 1;
        return ((high << 10) + mantissa()) << e;
    }
    // When a timeout that starts at `now` ends. Not for never.
    constexpr Microseconds deadline(Microseconds now) const { return is_point() ? point(now) : now + period(); }
    // True when a timeout that starts at `now` is over at once.
    constexpr bool expired(Microseconds now) const { return !is_never() && deadline(now) <= now; }
    // The nearest period not above `us`, as the kernel reports remaining times.
    static constexpr Time from_us(Microseconds us) {
        if (us == 0) return zero();
        unsigned e = 0;
        while (us > 0x3ff) us >>= 1, ++e;
        if (e > 31) return never();
        return {static_cast<std::uint16_t>(e << 10 | us)};
    }
};

// Access rights as they stand in the low bits of an fpage (manual 4.1).
enum Rights : Word { right_execute = 1, right_write = 2, right_read = 4, rights_all = 7 };

// Fpages (manual 4.1, A.4): aligned regions of an address space or of the I/O port space.
struct Fpage {
    Word raw;

    static constexpr Fpage nil() { return {0}; }
    static constexpr Fpage complete() { return {0x10}; }
    static constexpr Fpage complete_io() { return {0x4020}; }
    static constexpr Fpage io(Word port, unsigned log2) { return {port << 16 | log2 << 10 | 0x20}; }
    static constexpr Fpage memory(VAddr base, unsigned log2) { return {(base & ~((1u << log2) - 1)) | log2 << 4}; }

    constexpr Word rights() const { return raw & rights_all; }
    constexpr unsigned size_field() const { return raw >> 4 & 0x3f; }
    constexpr bool is_io() const { return size_field() == 2; }
    constexpr bool is_complete() const { return size_field() == 1 && raw >> 10 == 0; }
    // Fpages below the smallest page count as nil (manual 4.1); so do sizes beyond the address space.
    constexpr bool is_nil() const { return !is_complete() && (size_field() < page_log2 || size_field() > 31); }
    // log2 of the size; 32 for the complete address space. Only for memory fpages that are not nil.
    constexpr unsigned log2() const { return is_complete() ? 32 : size_field(); }
    constexpr VAddr base() const { return is_complete() ? 0 : raw & ~((1u << size_field()) - 1) & ~Word{0x3ff}; }
    // The last byte, inclusive, so that the end of memory needs no special case.
    constexpr VAddr last() const { return is_complete() ? ~VAddr{0} : base() + ((1u << size_field()) - 1); }
    constexpr Fpage with_rights(Word rights) const { return {(raw & ~Word{rights_all}) | rights}; }
    constexpr bool operator==(const Fpage&) const = default;
};

// The message tag, MR0 (manual 5.1).
struct MsgTag {
    Word raw;

    static constexpr Word error_bit = 1u << 15;
    static constexpr Word propagated_bit = 1u << 12;
    static constexpr Word redirected_bit = 1u << 13;

    static constexpr MsgTag make(Word label, Word untyped, Word typed = 0) {
        return {label << 16 | typed << 6 | untyped};
    }
    constexpr Word untyped() const { return raw & 0x3f; }
    constexpr Word typed() const { return raw >> 6 & 0x3f; }
    constexpr bool propagated() const { return raw & propagated_bit; }
    // What a receiver may see of a sender's tag: label and counts; the flags are the kernel's to set.
    constexpr Word delivered() const { return raw & 0xffff0fff; }
};

constexpr Word message_registers = 64;
constexpr Word buffer_registers = 33;

// Labels of messages that the kernel makes (manual 7): 12-bit negative numbers, low nibble free for flags.
enum Label : Word {
    label_interrupt = 0xfff0,
    label_preemption = 0xffd0,
    label_page_fault = 0xffe0,
    label_exception = 0xffb0,
    label_port_fault = 0xff80,
};

// ErrorCode values of the system calls other than IPC (manual 2.4 and others).
enum class Error : Word {
    none = 0,
    no_privilege = 1,
    invalid_thread = 2,
    invalid_space = 3,
    invalid_scheduler = 4,
    invalid_parameter = 5,
    utcb_area = 6,
    kip_area = 7,
    no_memory = 8,
};

// ErrorCode of a failed IPC (manual 5.6): code << 1, bit 0 says in which phase.
enum class IpcError : Word {
    timeout = 1,
    no_partner = 2,
    canceled = 3,
    overflow = 4,
    xfer_timeout_mine = 5,         // a page fault in the space of the thread that is told
    xfer_timeout_partners = 6,
    aborted = 7,
};
enum class Phase : Word { send = 0, receive = 1 };
// `bytes` of strings have been transferred (errors from overflow on).
constexpr Word ipc_error_code(IpcError e, Phase p, Word bytes = 0) {
    return bytes << 4 | static_cast<Word>(e) << 1 | static_cast<Word>(p);
}
