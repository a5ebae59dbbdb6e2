// SPDX-License-Identifier: BSD-2-Clause
// The user-level thread control block as the kernel sees it (manual A.1). User programs write to it at any
// time: every value read from here is a wish, never a fact.
#pragma once

#include "core/x2.hpp"

// The bits of a thread's preemption flags that mean something (manual 3.6).
enum PreemptFlags : Word { preemption_pending = 0x80, preemption_delay = 0x40, preemption_signal = 0x20 };

struct Utcb {
    Word before[64];                 // -256: padding, buffer registers downwards from -64, control registers
    Word mr[message_registers];      // +0

    // A thread control register by its distance in bytes before the UTCB address.
    Word& tcr(unsigned bytes_before) { return before[64 - bytes_before / 4]; }
    Word& virtual_sender() { return tcr(24); }       // in: VirtualSender, out: ActualSender
    Word& intended_receiver() { return tcr(28); }    // of a redirected message
    Word& xfer_timeouts() { return tcr(32); }        // send high, receive low
    Word& error_code() { return tcr(36); }
    Word& flags() { return tcr(40); }                // byte 0: PreemptFlags, byte 1: coprocessor flags
    Word& exception_handler() { return tcr(44); }
    Word& pager() { return tcr(48); }
    Word& user_handle() { return tcr(52); }
    Word& my_global_id() { return tcr(60); }
    Word& acceptor() { return tcr(64); }             // BR0

    static constexpr Word size = 512;
    static constexpr Word id_offset = 256;           // UTCB address = local id = location + 256
};
static_assert(sizeof(Utcb) == Utcb::size);
static_assert(offsetof(Utcb, mr) == Utcb::id_offset);
