// SPDX-License-Identifier: BSD-2-Clause
// What lies below the convenience interface: the UTCB's layout, and each system call as a function of words, which the
// processor's own header defines by the registers of its binding (manual appendix A; docs/x2-arm.md).
#ifndef L4_ARCH_H
#define L4_ARCH_H
#include <l4/types.h>

// Byte offsets of the entry-offset fields inside the kernel interface page.
enum {
    L4_KIP_SPACE_CONTROL = 0xD0,
    L4_KIP_THREAD_CONTROL = 0xD4,
    L4_KIP_PROCESSOR_CONTROL = 0xD8,
    L4_KIP_MEMORY_CONTROL = 0xDC,
    L4_KIP_IPC = 0xE0,
    L4_KIP_LIPC = 0xE4,
    L4_KIP_UNMAP = 0xE8,
    L4_KIP_EXCHANGE_REGISTERS = 0xEC,
    L4_KIP_SYSTEM_CLOCK = 0xF0,
    L4_KIP_THREAD_SWITCH = 0xF4,
    L4_KIP_SCHEDULE = 0xF8,
};

// Word offsets of UTCB fields from the UTCB address (= local id). MR n is at word n.
enum {
    L4_UTCB_THREAD_WORD0 = -4,       ///< free for programs
    L4_UTCB_THREAD_WORD1 = -5,       ///< used by this library
    L4_UTCB_VIRTUAL_SENDER = -6,     ///< also ActualSender
    L4_UTCB_INTENDED_RECEIVER = -7,
    L4_UTCB_XFER_TIMEOUTS = -8,
    L4_UTCB_ERROR_CODE = -9,
    L4_UTCB_FLAGS = -10,             ///< byte 0 preempt flags, byte 1 coprocessor flags
    L4_UTCB_EXCEPTION_HANDLER = -11,
    L4_UTCB_PAGER = -12,
    L4_UTCB_USER_DEFINED_HANDLE = -13,
    L4_UTCB_PROCESSOR_NO = -14,
    L4_UTCB_MY_GLOBAL_ID = -15,
    L4_UTCB_BR0 = -16,               ///< BR n is at word -16 - n
};

enum {
    L4_NumMRs = 64,
    L4_NumBRs = 33,
    L4_UtcbIdOffset = 256, ///< local id = UTCB location given to ThreadControl + 256 (this kernel and Pistachio)
};

#ifdef __arm__
#include <l4/processor/arm.h>
#else
#include <l4/processor/ia32.h>
#endif

#endif
